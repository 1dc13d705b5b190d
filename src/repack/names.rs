//! Names of other files in a file that moves to another folder.

use std::path::{Component, Path, PathBuf};

/// The way from the new folder to the old one; empty where they are the same, or where there are none.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    way: String,
}

impl Names {
    /// For a file that was at `from` and will be at `to`.
    pub(super) fn moved(from: &Path, to: &Path) -> Names {
        let way = folder(to).zip(folder(from)).and_then(|(to, from)| way(&to, &from));
        Names { way: way.unwrap_or_default() }
    }

    /// The name of another file, seen from the new folder. Absolute names, and `.` for the file itself, stay.
    pub(super) fn file(&self, name: &[u8]) -> Vec<u8> {
        let stays = name.is_empty() || name == b"." || name.starts_with(b"/") || is_absolute(name);
        if stays { name.to_vec() } else { [self.way.as_bytes(), name].concat() }
    }

    /// As [`file`](Self::file), for names in which `%b` is the number of a block.
    pub(super) fn numbered(&self, name: &str) -> Vec<u8> {
        let way = Names { way: self.way.replace('%', "%%") };
        way.file(name.as_bytes())
    }
}

fn is_absolute(name: &[u8]) -> bool {
    std::str::from_utf8(name).is_ok_and(|name| Path::new(name).is_absolute())
}

/// The folder that a file is in, without symbolic links.
fn folder(file: &Path) -> Option<PathBuf> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    folder.canonicalize().ok()
}

/// The way from one folder to another, ending in a slash unless there is none to go.
fn way(from: &Path, to: &Path) -> Option<String> {
    let same = from.components().zip(to.components()).take_while(|(a, b)| a == b).count();
    let up = from.components().skip(same).map(|_| "..");
    let down = to.components().skip(same).map(|part| match part {
        Component::Normal(name) => name.to_str(),
        _ => None,
    });
    let parts = up.map(Some).chain(down).collect::<Option<Vec<&str>>>()?;
    Some(parts.iter().map(|part| format!("{part}/")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_from_the_new_folder() {
        let between = |from: &str, to: &str| Names { way: way(Path::new(to), Path::new(from)).unwrap() };
        let text = |name: Vec<u8>| String::from_utf8(name).unwrap();
        assert_eq!(text(between("/a/b", "/a/b").file(b"x.h5")), "x.h5");
        assert_eq!(text(between("/a/b", "/a/c/d").file(b"x.h5")), "../../b/x.h5");
        assert_eq!(text(between("/a/b", "/a").file(b"../x.h5")), "b/../x.h5");
        assert_eq!(text(between("/a/b", "/a").file(b".")), ".");
        assert_eq!(text(between("/a/5%", "/a").numbered("x%b.h5")), "5%%/x%b.h5");
        assert_eq!(text(between("/a/b", "/").file(b"/x.h5")), "/x.h5");
    }
}
