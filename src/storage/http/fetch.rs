//! Requests on several threads. What an answer brings goes straight to where it is wanted, range by range; an answer that
//! breaks off is asked for again from where it broke.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, mpsc};
use std::thread;

use super::answer::{Answer, changed};
use super::client::{Client, lock};
use super::retry::{Backoff, Fault, passing};
use super::{HttpSource, Request};
use crate::error::{Error, ErrorKind, Result};
use crate::storage::{Buffer, Wanted};
use crate::wire::ByteRange;

/// Bytes that an attempt has to bring so that it does not count as failed: a server that gives less, over and over, is given
/// up.
const PROGRESS: u64 = 64 << 10;

type Arrived<'s, 'a> = dyn FnMut(Wanted<'a>) -> Result<()> + 's;

impl Client {
    pub(super) fn backoff(&self) -> Backoff {
        Backoff::new(self.options.attempts, self.options.pause)
    }
}

impl HttpSource {
    /// Makes `requests`, several at a time. `arrived` is called on this thread.
    pub(super) fn fetch<'a>(&self, requests: Vec<Request<'a>>, arrived: &mut Arrived<'_, 'a>) -> Result<()> {
        let is_small = |request: &Request<'_>| request.range.size <= self.client.options.profile.largest_request();
        let stop = AtomicBool::new(false);
        let mut requests = requests.into_iter();
        match (requests.len(), requests.as_slice().first()) {
            (0, _) => return Ok(()),
            (1, Some(only)) if is_small(only) => {
                return requests.try_for_each(|request| self.stream(request, &stop, arrived));
            }
            _ => {}
        }
        let (threads, queue) =
            (requests.len().min(self.client.options.profile.connections.max(1)), Mutex::new(requests));
        thread::scope(|scope| {
            // A thread waits with what it has until it is taken: that bounds what is in memory.
            let (send, receive) = mpsc::sync_channel(0);
            for _ in 0..threads {
                let (send, queue, stop) = (send.clone(), &queue, &stop);
                let work = move || {
                    let next = || lock(queue).next();
                    while let Some(request) = next().filter(|_| !stop.load(Ordering::Relaxed)) {
                        let gone = |_| Error::new(ErrorKind::Cancelled, "nobody wants it any more");
                        let mut hand_over = |wanted| send.send(Ok(wanted)).map_err(gone);
                        if let Err(error) = self.stream(request, stop, &mut hand_over) {
                            let _ = send.send(Err(error));
                            return;
                        }
                    }
                };
                thread::Builder::new().name("hdfive-http".to_owned()).spawn_scoped(scope, work)?;
            }
            drop(send);
            let mut result = Ok(());
            for arrival in receive {
                if result.is_ok() {
                    result = arrival.and_then(&mut *arrived);
                    stop.fetch_or(result.is_err(), Ordering::Relaxed);
                }
            }
            result
        })
    }

    /// Makes one request, again and again if need be, and hands over each range as it is complete.
    fn stream<'a>(&self, request: Request<'a>, stop: &AtomicBool, arrived: &mut Arrived<'_, 'a>) -> Result<()> {
        let (largest, mut wanted) = (self.client.options.profile.largest_request(), request.wanted);
        if let [only] = &mut wanted[..]
            && only.range.size > largest
        {
            self.in_parts(only, largest)?;
            return wanted.into_iter().try_for_each(arrived);
        }
        let mut filling = Filling { left: wanted.into_iter(), current: None, end: request.range.end()?.0 };
        let mut backoff = self.client.backoff();
        loop {
            let before = filling.position();
            let Err(fault) = self.attempt(&mut filling, stop, arrived) else { return Ok(()) };
            if filling.position() - before >= PROGRESS {
                backoff.restart();
            }
            backoff.wait(fault, || self.is_wanted(stop))?;
        }
    }

    /// A range that is larger than a request should be, in several.
    fn in_parts(&self, wanted: &mut Wanted<'_>, largest: u64) -> Result<()> {
        let size = usize::try_from(largest).unwrap_or(usize::MAX);
        let mut addr = wanted.range.addr;
        let mut parts = Vec::new();
        for buffer in wanted.buffer.chunks_mut(size) {
            let range = ByteRange::of(addr, buffer.len());
            addr = range.end()?;
            parts.push(Request::of(Wanted { range, buffer: Buffer::Lent(buffer) }));
        }
        self.fetch(parts, &mut |_| Ok(()))
    }

    fn is_wanted(&self, stop: &AtomicBool) -> Result<()> {
        if stop.load(Ordering::Relaxed) {
            return Err(Error::new(ErrorKind::Cancelled, "nobody wants it any more"));
        }
        self.client.check_open()
    }

    /// One request for what is left to be filled.
    fn attempt<'a>(
        &self,
        filling: &mut Filling<'a>,
        stop: &AtomicBool,
        arrived: &mut Arrived<'_, 'a>,
    ) -> Result<(), Fault> {
        let (first, last) = (filling.position(), filling.end - 1);
        let (mut answer, _permit) = self.client.get(first, last)?;
        match answer.status {
            206 => self.check(&answer, (first, last))?,
            200 => {
                self.receive_whole(answer)?;
                let begun = filling.current.take().map(|(wanted, _)| wanted);
                for mut wanted in begun.into_iter().chain(&mut filling.left) {
                    self.take_from_memory(&mut wanted);
                    arrived(wanted)?;
                }
                return Ok(());
            }
            _ => return Err(changed("it is shorter now").into()),
        }
        let mut at = first;
        while let Some((wanted, done)) = filling.current() {
            let start = wanted.range.addr.0 + count(*done);
            skip(&mut answer, start - at)?;
            let (came, result) = answer.fill(&mut wanted.buffer[*done..], || self.is_wanted(stop));
            *done += came;
            at = start + count(came);
            result?;
            filling.current.take().map_or(Ok(()), |(complete, _)| arrived(complete))?;
        }
        Ok(answer.finish()?)
    }

    /// Whether the answer is the range that was asked for, of the version that was opened.
    fn check(&self, answer: &Answer, (first, last): (u64, u64)) -> Result<(), Fault> {
        self.version.check(&answer.version())?;
        let range = answer.content_range().ok_or_else(|| passing("the server does not say which range it sends"))?;
        if range.len.is_some_and(|len| len != self.len) {
            return Err(changed("it has another length").into());
        }
        if range.bytes != Some((first, last)) {
            return Err(passing("the server answers with another range"));
        }
        answer.check_length(last - first + 1)
    }
}

/// Ranges that a request fills, one after another.
struct Filling<'a> {
    left: std::vec::IntoIter<Wanted<'a>>,
    /// The one that is being filled, and how much of it is.
    current: Option<(Wanted<'a>, usize)>,
    /// Where the last one ends.
    end: u64,
}

impl<'a> Filling<'a> {
    fn current(&mut self) -> Option<&mut (Wanted<'a>, usize)> {
        if self.current.is_none() {
            self.current = self.left.next().map(|wanted| (wanted, 0));
        }
        self.current.as_mut()
    }

    /// The next byte that is wanted.
    fn position(&mut self) -> u64 {
        let end = self.end;
        self.current().map_or(end, |(wanted, done)| wanted.range.addr.0 + count(*done))
    }
}

/// Reads over what nobody wants.
fn skip(answer: &mut Answer, mut bytes: u64) -> Result<(), Fault> {
    let mut unwanted = [0; 8 << 10];
    while bytes > 0 {
        let now = usize::try_from(bytes).map_or(unwanted.len(), |bytes| bytes.min(unwanted.len()));
        answer.fill(&mut unwanted[..now], || Ok(())).1?;
        bytes -= count(now);
    }
    Ok(())
}

fn count(bytes: usize) -> u64 {
    u64::try_from(bytes).expect("because memory is smaller than 64 bits")
}
