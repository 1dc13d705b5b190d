//! Paths: from one group to an object, over hard and soft links, and to the border of another file.

use std::collections::VecDeque;

use super::container::Scope;
use super::header::{Header, ObjectKind};
use super::{Step, links};
use crate::error::Error;
use crate::format::message::link::LinkTarget;
use crate::wire::Addr;

/// Where a path leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// An object of this file.
    Object(Addr),
    /// A path from the root group of another file.
    External {
        /// The file's name as it stands in the link.
        file: String,
        /// The path in it.
        path: Vec<u8>,
    },
    /// Nothing: no link has this name.
    Nothing {
        /// The name that is missing.
        name: String,
    },
}

/// Most soft links that one path may go over.
const MOST_SOFT_LINKS: u32 = 64;

/// Follows `path` from the group at `start`; a path that begins with a slash begins at the root group.
pub fn follow(scope: Scope<'_>, start: Addr, path: &[u8]) -> Step<Found> {
    let root = scope.container.root;
    let mut at = if path.first() == Some(&b'/') { root } else { start };
    let mut names = split(path);
    let mut soft_links = 0;
    while let Some(name) = names.pop_front() {
        let header = Header::load(scope, at)?;
        if header.kind()? != ObjectKind::Group {
            return Ok(Found::Nothing { name: text(&name) });
        }
        let Some(link) = links::find(scope, &header, &name)? else { return Ok(Found::Nothing { name: text(&name) }) };
        match &link.target {
            LinkTarget::Hard(addr) => at = *addr,
            LinkTarget::Soft(target) => {
                soft_links += 1;
                if soft_links > MOST_SOFT_LINKS {
                    let what = format!("the path goes over more than {MOST_SOFT_LINKS} soft links (a cycle?)");
                    return Err(Error::limit(what).into());
                }
                if target.first() == Some(&b'/') {
                    at = root;
                }
                let mut inserted = split(target);
                inserted.extend(names);
                names = inserted;
            }
            LinkTarget::External(_) => {
                let Some((file, path)) = link.target.external() else {
                    let what = format!("the external link {:?} of the group at {at} names no file", text(&name));
                    return Err(Error::corrupt(what).into());
                };
                let rest = names.into_iter().flat_map(|name| [vec![b'/'], name].concat());
                let path = path.iter().copied().chain(rest).collect();
                return Ok(Found::External { file: text(file), path });
            }
            LinkTarget::User { class, .. } => {
                let what = format!("the link {:?} is of the user-defined class {class}", text(&name));
                return Err(Error::unsupported(what).into());
            }
        }
    }
    Ok(Found::Object(at))
}

fn split(path: &[u8]) -> VecDeque<Vec<u8>> {
    path.split(|&b| b == b'/').filter(|part| !part.is_empty() && *part != b".").map(<[u8]>::to_vec).collect()
}

fn text(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}
