//! One error type, one word wide: what happened ([`ErrorKind`]) and where ([`Place`], innermost first).
//!
//! ```text
//! checksum is 0x7ca13ae2, bytes give 0x2a2a28a6 (superblock, "checksum", at 0x2c) in data/x.h5
//! ```
//! The message says what is and what was expected; the place comes last.

use std::borrow::Cow;
use std::fmt;
use std::io;
use std::sync::Arc;

/// The result of everything that can fail here.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What a caller can act on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The storage could not be read or written.
    Io,
    /// No HDF5 signature where one may stand.
    NotHdf5,
    /// The file contradicts the format or itself.
    Corrupt,
    /// The file uses something that this version does not know.
    Unsupported,
    /// A bound of [`crate::Limits`] was reached.
    Limit,
    /// No such object, attribute, link target, file or virtual source.
    NotFound,
    /// The object or the data are of another kind or datatype.
    WrongType,
    /// An index or selection lies outside the shape.
    OutOfBounds,
    /// The arguments make no sense together.
    Invalid,
    /// Two changes contradict each other.
    Conflict,
    /// The source is another file than the one that was opened.
    Changed,
    /// A policy forbids it, for example following a path out of the file's folder.
    Denied,
    /// Somebody else holds the file.
    Locked,
    /// The caller cancelled.
    Cancelled,
}

/// Where something went wrong. A trail of places runs from the innermost to the outermost.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Place {
    /// A field of an on-disk structure; the address is relative to the file's base address.
    Field {
        /// The structure's name in the specification.
        structure: &'static str,
        /// The field's name in the specification.
        field: &'static str,
        /// Where the field begins.
        address: u64,
    },
    /// A filter of a pipeline, by name.
    Filter(Cow<'static, str>),
    /// A stored chunk, by its first element's coordinates, and where its bytes lie.
    Chunk {
        /// Coordinates of the chunk's first element.
        origin: Vec<u64>,
        /// Address of the stored bytes.
        address: u64,
    },
    /// An attribute, by name.
    Attribute(String),
    /// An object header; stands where nothing closer has an address.
    Header {
        /// Where it begins, relative to the file's base address.
        address: u64,
    },
    /// An object, by path.
    Object(String),
    /// A file, by name.
    File(String),
}

/// An error: a kind, a message, and the places it came through.
#[derive(Clone)]
pub struct Error(Box<Inner>);

#[derive(Clone, Debug)]
struct Inner {
    kind: ErrorKind,
    message: Cow<'static, str>,
    trail: Vec<Place>,
    /// Bytes wanted beyond those that were given; 0 unless a structure was cut short.
    short_of: u64,
    source: Option<Arc<io::Error>>,
}

impl Error {
    /// An error of `kind`. The message is lower case and says what is and what was expected.
    pub fn new(kind: ErrorKind, message: impl Into<Cow<'static, str>>) -> Self {
        Error(Box::new(Inner { kind, message: message.into(), trail: Vec::new(), short_of: 0, source: None }))
    }

    /// What a caller can act on.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The message without its places.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The places the error came through, innermost first.
    pub fn trail(&self) -> &[Place] {
        &self.0.trail
    }

    /// The same error, seen from one place further out.
    #[must_use]
    pub fn at(mut self, place: Place) -> Self {
        self.0.trail.push(place);
        self
    }

    /// The same error, whose message goes on with a way out.
    #[must_use]
    pub(crate) fn hint(mut self, way_out: &str) -> Self {
        self.0.message.to_mut().push_str("; ");
        self.0.message.to_mut().push_str(way_out);
        self
    }

    /// Whether one of its places has an address.
    pub(crate) fn has_address(&self) -> bool {
        let has = |place: &Place| matches!(place, Place::Field { .. } | Place::Chunk { .. } | Place::Header { .. });
        self.0.trail.iter().any(has)
    }

    /// A structure was cut short: `needed` more bytes were wanted, `left` were there.
    pub(crate) fn short(needed: u64, left: u64) -> Self {
        let message = format!("needs {needed} more bytes, {left} are left");
        let mut error = Error::corrupt(message);
        error.0.short_of = needed.saturating_sub(left).max(1);
        error
    }

    /// The same error, for bytes that end where their box ends: more of the file would not help.
    pub(crate) fn sealed(mut self) -> Self {
        self.0.short_of = 0;
        self
    }

    /// How many bytes more would have helped; 0 if the error is another.
    pub(crate) fn short_of(&self) -> u64 {
        self.0.short_of
    }
}

macro_rules! constructors {
    ($($name:ident $kind:ident),*) => { impl Error { $(
        #[doc = concat!("An error of kind [`ErrorKind::", stringify!($kind), "`].")]
        pub fn $name(message: impl Into<Cow<'static, str>>) -> Self { Error::new(ErrorKind::$kind, message) }
    )* } };
}
constructors!(corrupt Corrupt, unsupported Unsupported, limit Limit, not_found NotFound, wrong_type WrongType,
    out_of_bounds OutOfBounds, invalid Invalid, denied Denied, not_hdf5 NotHdf5, changed Changed, conflict Conflict);

impl From<io::Error> for Error {
    fn from(source: io::Error) -> Self {
        let mut error = Error::new(ErrorKind::Io, source.to_string());
        error.0.source = Some(Arc::new(source));
        error
    }
}

/// The message, then the places. `{:#}` leaves out the outermost file, for those who name it themselves.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)?;
        let mut within = false;
        let trail = match &self.0.trail[..] {
            [inner @ .., Place::File(_)] if f.alternate() => inner,
            all => all,
        };
        for (outwards, place) in trail.iter().enumerate() {
            match place {
                // It will be said further out.
                Place::File(_) if self.0.trail[outwards + 1..].contains(place) => continue,
                Place::Field { structure, field, address } => write!(f, " ({structure}, {field:?}, at {address:#x})")?,
                Place::Filter(name) => write!(f, " (filter {name})")?,
                Place::Chunk { origin, address } => write!(f, " (chunk {origin:?}, at {address:#x})")?,
                Place::Attribute(name) => write!(f, " (attribute {name:?})")?,
                Place::Header { address } => write!(f, " (object header at {address:#x})")?,
                Place::Object(path) => write!(f, "{} {path:?}", if within { "," } else { " in" })?,
                // Nothing but the file itself: `no such file: x.h5`.
                Place::File(name) if outwards == 0 => {
                    write!(f, ": {name}")?;
                    continue;
                }
                Place::File(name) => write!(f, "{} {name}", if within { "," } else { " in" })?,
            }
            within |= matches!(place, Place::Object(_) | Place::File(_));
        }
        Ok(())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {self}", self.0.kind)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_ref().map(|e| e.as_ref() as _)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_first_places_last() {
        let error = Error::short(4, 2)
            .at(Place::Field { structure: "chunk key", field: "filter mask", address: 0x5c })
            .at(Place::Object("/sst".into()))
            .at(Place::File("data/x.h5".into()));
        let text = r#"needs 4 more bytes, 2 are left (chunk key, "filter mask", at 0x5c) in "/sst", data/x.h5"#;
        assert_eq!(error.to_string(), text);
        let missing = Error::not_found("no such file").at(Place::File("b.h5".into()));
        assert_eq!(missing.to_string(), "no such file: b.h5");
        let outer = missing.at(Place::Object("/v".into())).at(Place::File("a.h5".into()));
        assert_eq!(outer.to_string(), r#"no such file: b.h5 in "/v", a.h5"#);
        assert_eq!(format!("{outer:#}"), r#"no such file: b.h5 in "/v""#);
        let twice = ["a.h5", "a.h5"].map(|name| Place::File(name.into()));
        let error = Error::not_found("no source").at(twice[0].clone()).at(Place::Object("/v".into()));
        assert_eq!(error.at(twice[1].clone()).hint("do").to_string(), r#"no source; do in "/v", a.h5"#);
        assert_eq!(size_of::<Error>(), size_of::<usize>());
    }
}
