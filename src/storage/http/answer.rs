//! What servers answer, and whether it is what was asked for.

use std::time::SystemTime;

use sha2::{Digest, Sha256};
use ureq::http::{HeaderMap, Response};
use ureq::{Body, BodyReader};

use super::address::Address;
use super::retry::{Fault, passing, retry_after};
use crate::error::{Error, ErrorKind, Result};
use crate::storage::Identity;

/// An answer to a request.
pub(super) struct Answer {
    pub(super) status: u16,
    headers: HeaderMap,
    body: BodyReader<'static>,
    /// The hash of the content, as a hub gives it where it redirects.
    pub(super) linked: Option<String>,
}

/// What tells one content of an address from another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Version {
    etag: Option<String>,
    modified: Option<String>,
    linked: Option<String>,
}

/// The header `Content-Range`: first and last byte if there are some, and how many the file has.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ContentRange {
    pub(super) bytes: Option<(u64, u64)>,
    pub(super) len: Option<u64>,
}

impl Answer {
    pub(super) fn new(response: Response<Body>, linked: Option<String>) -> Answer {
        let (parts, body) = response.into_parts();
        // The limits are ours: what is read is what was asked for.
        let body = body.into_with_config().limit(u64::MAX).reader();
        Answer { status: parts.status.as_u16(), headers: parts.headers, body, linked }
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok().map(str::trim)
    }

    pub(super) fn version(&self) -> Version {
        let text = |name: &str| self.header(name).filter(|text| !text.is_empty()).map(str::to_owned);
        Version { etag: text("etag"), modified: text("last-modified"), linked: self.linked.clone() }
    }

    pub(super) fn content_range(&self) -> Option<ContentRange> {
        content_range(self.header("content-range")?)
    }

    pub(super) fn content_length(&self) -> Option<u64> {
        self.header("content-length")?.parse().ok()
    }

    /// Whether the status is one that was hoped for: bytes (200, 206), or that there are none (416).
    pub(super) fn check_status(&self) -> Result<(), Fault> {
        let denied =
            |what: &str| Fault::Final(Error::denied(format!("the server answers with {}: {what}", self.status)));
        match self.status {
            200 | 206 => match self.header("content-encoding") {
                None | Some("" | "identity") => Ok(()),
                Some(_) => {
                    Err(Error::unsupported("the server compresses what it sends, so that ranges make no sense").into())
                }
            },
            416 => Ok(()),
            401 => Err(denied("a token is wanted, or another one")),
            403 => Err(denied("access is refused")),
            404 | 410 => Err(Error::not_found(format!("no such file: the server answers with {}", self.status)).into()),
            412 => Err(changed("the server has another version").into()),
            408 | 429 | 500..=599 => {
                let asked = self.header("retry-after").and_then(|value| retry_after(value, SystemTime::now()));
                let error = Error::new(ErrorKind::Io, format!("the server answers with {}", self.status));
                Err(Fault::Passing(error, asked))
            }
            status => Err(Error::new(ErrorKind::Io, format!("the server answers with {status}")).into()),
        }
    }

    /// Whether it is said to have `bytes` bytes, if that is said.
    pub(super) fn check_length(&self, bytes: u64) -> Result<(), Fault> {
        match self.content_length().filter(|length| *length != bytes) {
            Some(length) => Err(passing(format!("the server sends {length} bytes for {bytes}"))),
            None => Ok(()),
        }
    }

    /// Reads some bytes into `buffer`; none at the end.
    pub(super) fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Fault> {
        loop {
            match std::io::Read::read(&mut self.body, buffer) {
                Ok(came) => return Ok(came),
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
                Err(e) => return Err(passing(format!("the answer breaks off: {e}"))),
            }
        }
    }

    /// Reads into all of `buffer`; gives the number of bytes that came, and why they are too few. It ends early where
    /// `wanted` is an error.
    pub(super) fn fill(&mut self, buffer: &mut [u8], wanted: impl Fn() -> Result<()>) -> (usize, Result<(), Fault>) {
        let mut done = 0;
        while done < buffer.len() {
            match wanted().map_err(Fault::from).and_then(|()| self.read(&mut buffer[done..])) {
                Ok(0) => return (done, Err(passing("the server ends its answer early"))),
                Ok(came) => done += came,
                Err(fault) => return (done, Err(fault)),
            }
        }
        (done, Ok(()))
    }

    /// Reads to the end, so that the connection can serve again. Errors are `Io` if anything more comes.
    pub(super) fn finish(&mut self) -> Result<()> {
        match self.read(&mut [0]) {
            Ok(1..) => Err(Error::new(ErrorKind::Io, "the server sends more than was asked for")),
            Ok(0) | Err(_) => Ok(()),
        }
    }
}

impl Version {
    /// Checks that an answer gives the same content. One that says nothing of its version where another did is not
    /// believed.
    pub(super) fn check(&self, answer: &Version) -> Result<()> {
        let linked = answer.linked.is_none() || self.linked == answer.linked;
        let same = match &self.etag {
            Some(_) => self.etag == answer.etag,
            None => answer.etag.is_none() && self.modified == answer.modified,
        };
        if linked && same { Ok(()) } else { Err(changed("its version is another one")) }
    }

    /// The hash of the content, as a hub gives it.
    pub(super) fn linked(&self) -> Option<&str> {
        self.linked.as_deref()
    }

    /// The identity of the content at `address`. Entity tags mean something there only.
    pub(super) fn identity(&self, address: &Address, len: u64) -> Identity {
        let url = super::address::shown(&address.as_uri().to_string());
        // A query says what is wanted, but may hold a secret.
        let query = address.query().map_or(String::new(), |query| format!("?{}", hex(&Sha256::digest(query))));
        match (&self.etag, &self.modified) {
            (Some(etag), _) if etag.starts_with('"') => Identity::Strong(format!("{url}{query} {etag}")),
            (Some(version), _) | (None, Some(version)) => Identity::Weak(format!("{url}{query} {version} {len}")),
            (None, None) => Identity::None,
        }
    }
}

/// The error for a file that is not the one that was opened.
pub(super) fn changed(how: &str) -> Error {
    Error::changed(format!("the file has changed since it was opened: {how}"))
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn content_range(value: &str) -> Option<ContentRange> {
    let (range, len) = value.strip_prefix("bytes")?.trim_start().split_once('/')?;
    let len = if len.trim() == "*" { None } else { Some(len.trim().parse().ok()?) };
    let bytes = match range.trim() {
        "*" => None,
        range => {
            let (first, last) = range.split_once('-')?;
            let (first, last) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
            (first <= last).then_some(())?;
            Some((first, last))
        }
    };
    Some(ContentRange { bytes, len })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_ranges_are_read_as_they_are_written() {
        let range = |bytes, len| Some(ContentRange { bytes, len });
        assert_eq!(content_range("bytes 5-9/20"), range(Some((5, 9)), Some(20)));
        assert_eq!(content_range("bytes 5-9/*"), range(Some((5, 9)), None));
        assert_eq!(content_range("bytes */20"), range(None, Some(20)));
        for wrong in
            ["", "bytes", "bytes 9-5/20", "bytes 5/20", "bytes 5-9", "items 5-9/20", "bytes -5-9/20", "bytes 5-9/x"]
        {
            assert_eq!(content_range(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn versions_are_the_same_by_their_tags_or_else_their_dates() {
        let version = |etag: &str, modified: &str| {
            let text = |t: &str| Some(t.to_owned()).filter(|t| !t.is_empty());
            Version { etag: text(etag), modified: text(modified), linked: None }
        };
        let same = |a: &Version, b: &Version| a.check(b).is_ok();
        assert!(same(&version("\"1\"", "Monday"), &version("\"1\"", "Tuesday")));
        assert!(!same(&version("\"1\"", "Monday"), &version("\"2\"", "Monday")));
        assert!(!same(&version("\"1\"", "Monday"), &version("", "Monday")));
        assert!(same(&version("", "Monday"), &version("", "Monday")));
        assert!(!same(&version("", "Monday"), &version("", "Tuesday")));
        assert!(!same(&version("", "Monday"), &version("\"1\"", "Monday")));
        let address = Address::parse("http://a.org/x?key=secret").unwrap();
        let Identity::Strong(strong) = version("\"1\"", "").identity(&address, 7) else { panic!("a strong one") };
        assert!(strong.starts_with("http://a.org/x?") && !strong.contains("secret"));
        assert!(matches!(version("W/\"1\"", "").identity(&address, 7), Identity::Weak(_)));
        assert!(matches!(version("", "Monday").identity(&address, 7), Identity::Weak(_)));
        assert_eq!(version("", "").identity(&address, 7), Identity::None);
    }
}
