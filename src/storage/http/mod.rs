//! Files behind URLs, read by ranges (feature `http`).
//!
//! ```text
//! ranges --coalesce--> requests --threads--> answers, checked --> each range as it arrives
//!                          ^ again, from the byte where it broke off |
//! ```
//! Every answer is checked: that it is the range that was asked for, and of the version that was opened.

mod address;
mod answer;
mod client;
mod fetch;
mod folder;
mod hub;
mod options;
mod retry;
mod tls;

use std::fmt;
use std::sync::{Mutex, OnceLock};

use bytes::Bytes;

pub(crate) use address::shown;
pub(crate) use folder::{is_url, open};
pub use options::HttpOptions;

use self::answer::{Answer, Version, changed};
use self::client::{Client, lock};
use self::retry::{Fault, passing};
use super::coalesce::{Request, requests};
use super::{ByteSource, Identity, IoProfile, Wanted, past_the_end};
use crate::error::{Error, Result};

/// A file behind a URL. Any number of threads read it at once, over a bounded number of connections.
pub struct HttpSource {
    client: Client,
    version: Version,
    identity: Identity,
    len: u64,
    /// The beginning, which came with the first answer.
    head: Bytes,
    /// All of it, from a server that sent it unasked.
    whole: OnceLock<Bytes>,
    /// Who is receiving all of it.
    receiving: Mutex<()>,
}

impl HttpSource {
    /// Opens the file at `url`, `http://` or `https://`. The first request takes its beginning, up to
    /// [`IoProfile::read_ahead`] bytes.
    ///
    /// Errors are `NotFound`, `Denied` (401, 403), `Invalid` for what is no URL, `Unsupported` for a server from which ranges
    /// cannot be had, `Io` for one that cannot be reached. None of them repeats the URL.
    pub fn open(url: &str, options: HttpOptions) -> Result<HttpSource> {
        let client = Client::new(url, options)?;
        let mut backoff = client.backoff();
        loop {
            match first(&client) {
                Ok(First { version, len, head, whole }) => {
                    let identity = version.identity(&client.address, len);
                    let (whole, receiving) = (whole.map_or_else(OnceLock::new, OnceLock::from), Mutex::default());
                    return Ok(HttpSource { client, version, identity, len, head, whole, receiving });
                }
                Err(fault) => backoff.wait(fault, || Ok(()))?,
            }
        }
    }

    /// Closes all connections. What is asked for from now on is an error of kind `Invalid`; requests that are under way end.
    pub fn close(&self) {
        self.client.close();
    }

    /// The same source, identified by the hash of its content, where a hub gave one with its redirect. Only for hubs: who can
    /// claim any hash can claim that of another file.
    fn by_content(mut self) -> HttpSource {
        if let Some(hash) = self.version.linked() {
            let url = shown(&self.client.address.as_uri().to_string());
            let endpoint = url.splitn(4, '/').take(3).collect::<Vec<_>>().join("/");
            self.identity = Identity::Strong(format!("{endpoint} {hash}"));
        }
        self
    }

    /// Takes the bytes of `wanted` from what is in memory anyway; `false` if they are not there.
    fn take_from_memory(&self, wanted: &mut Wanted<'_>) -> bool {
        let all = self.whole.get().unwrap_or(&self.head);
        let start = usize::try_from(wanted.range.addr.0).unwrap_or(usize::MAX);
        match all.get(start..start.saturating_add(wanted.buffer.len())) {
            Some(found) => {
                wanted.buffer.copy_from_slice(found);
                true
            }
            None => false,
        }
    }

    /// Receives the whole file, which the server sends instead of a range; once.
    fn receive_whole(&self, mut answer: Answer) -> Result<(), Fault> {
        self.version.check(&answer.version())?;
        let _receiving = lock(&self.receiving);
        if self.whole.get().is_some() {
            return Ok(());
        }
        if answer.content_length().is_some_and(|len| len != self.len) {
            return Err(changed("it has another length").into());
        }
        let whole = receive(&mut answer, Some(self.len), &self.client)?;
        let _ = self.whole.set(whole);
        Ok(())
    }
}

/// What the first answer says.
struct First {
    version: Version,
    len: u64,
    head: Bytes,
    whole: Option<Bytes>,
}

fn first(client: &Client) -> Result<First, Fault> {
    let head = client.options.profile.read_ahead.max(1);
    let (mut answer, _permit) = client.get(0, head - 1)?;
    let version = answer.version();
    if answer.status == 200 {
        let len = answer.content_length();
        let whole = receive(&mut answer, len, client)?;
        let len = u64::try_from(whole.len()).unwrap_or(u64::MAX);
        return Ok(First { version, len, head: Bytes::new(), whole: Some(whole) });
    }
    let range = answer.content_range();
    let len = range.as_ref().and_then(|range| range.len);
    let len = len.ok_or_else(|| Error::unsupported("the server does not say how long the file is"))?;
    let here = len.min(head);
    if range.and_then(|range| range.bytes) != here.checked_sub(1).map(|last| (0, last)) {
        return Err(passing("the server answers with another range"));
    }
    let mut bytes = vec![0; usize::try_from(here).map_err(|_| too_large(here))?];
    if answer.status == 206 {
        answer.check_length(here)?;
        answer.fill(&mut bytes, || Ok(())).1?;
        answer.finish()?;
    }
    Ok(First { version, len, head: bytes.into(), whole: None })
}

/// All bytes of an answer: `len` of them, if that is known.
fn receive(answer: &mut Answer, len: Option<u64>, client: &Client) -> Result<Bytes, Fault> {
    let most = client.options.largest_body;
    if let Some(len) = len.filter(|len| *len > most) {
        return Err(too_large(len).into());
    }
    // Memory grows with what comes.
    let (mut all, mut part) = (Vec::new(), vec![0; PART]);
    loop {
        client.check_open()?;
        match answer.read(&mut part)? {
            0 => break,
            came => all.extend_from_slice(&part[..came]),
        }
        let known = u64::try_from(all.len()).unwrap_or(u64::MAX);
        if known > most {
            return Err(too_large(known).into());
        }
    }
    match len.filter(|len| u64::try_from(all.len()) != Ok(*len)) {
        Some(_) => Err(passing("the server ends its answer early")),
        None => Ok(all.into()),
    }
}

/// Bytes of an answer that are received at once.
const PART: usize = 64 << 10;

fn too_large(len: u64) -> Error {
    Error::unsupported(format!(
        "the server gives no ranges, and the whole file, {len} bytes or more, is too large to take"
    ))
}

impl ByteSource for HttpSource {
    fn len(&self) -> Result<u64> {
        Ok(self.len)
    }

    fn identity(&self) -> Identity {
        self.identity.clone()
    }

    fn read_ranges<'a>(
        &self,
        wanted: Vec<Wanted<'a>>,
        arrived: &mut dyn FnMut(Wanted<'a>) -> Result<()>,
    ) -> Result<()> {
        self.client.check_open()?;
        let beyond = |wanted: &&Wanted<'_>| wanted.range.end().map_or(true, |end| end.0 > self.len);
        if let Some(wanted) = wanted.iter().find(beyond) {
            return Err(past_the_end(wanted.range, self.len));
        }
        let mut rest = Vec::new();
        for mut wanted in wanted {
            if wanted.buffer.is_empty() || self.take_from_memory(&mut wanted) {
                arrived(wanted)?;
            } else {
                rest.push(wanted);
            }
        }
        self.fetch(requests(rest, &self.client.options.profile), arrived)
    }

    fn pending(&self, ranges: &[crate::wire::ByteRange]) -> u64 {
        let in_memory = self.whole.get().map_or(self.head.len(), Bytes::len);
        let known = u64::try_from(in_memory).unwrap_or(u64::MAX);
        let missing = ranges.iter().filter(|range| range.end().map_or(true, |end| end.0 > known));
        missing.fold(0, |sum, range| sum.saturating_add(range.size))
    }

    fn profile(&self) -> IoProfile {
        self.client.options.profile
    }

    fn in_memory(&self) -> Option<&Bytes> {
        self.whole.get()
    }
}

/// The URL without what may be secret in it.
impl fmt::Debug for HttpSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let url = shown(&self.client.address.as_uri().to_string());
        f.debug_struct("HttpSource").field("url", &url).field("len", &self.len).finish_non_exhaustive()
    }
}
