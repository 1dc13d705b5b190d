//! Stored bytes of remote sources, fetched ahead of the lanes that decode them.
//!
//! ```text
//! fetcher 0   batch 0 ........ batch 2 ....       the ranges of a batch go out together
//! fetcher 1   batch 1 ............ batch 3 ..     one batch is on its way while the end of another is waited for
//! lanes           0 2 1 3 ...                     each takes the next that has arrived
//! ```
//! So a read holds at most two batches, and what the lanes hold. What is done does not depend on the order in which ranges
//! arrive, nor does the error: it is that of the first task that fails.

use std::collections::HashMap;
use std::iter::{Enumerate, Peekable};
use std::sync::{Mutex, MutexGuard, PoisonError, mpsc};
use std::thread;

use super::lanes;
use crate::error::{Error, ErrorKind, Result};
use crate::storage::{Buffer, ByteSource, Wanted};
use crate::wire::ByteRange;

/// Bytes of a batch at most, unless one range has more.
pub(super) const BATCH: u64 = 32 << 20;
/// Batches at a time.
const FETCHERS: usize = 2;

/// A task of a batch: its number, itself, and the range of the source that it needs.
type Taken<T> = (usize, T, ByteRange);
/// A task whose bytes have come, or why they have not.
type Arrived<T> = (usize, T, Result<Vec<u8>>);

/// Does `work` for each task with the bytes of its range, in at most so many lanes; see [`lanes::run`].
pub(super) fn run<B: Default, T: Send>(
    source: &dyn ByteSource,
    lanes: usize,
    tasks: impl Iterator<Item = Result<(T, ByteRange)>> + Send,
    work: impl Fn(&mut B, T, Result<Vec<u8>>) -> Result<()> + Sync,
) -> Result<()> {
    let shared = Shared(Mutex::new(State { tasks: tasks.enumerate().peekable(), failed: None }));
    // There are no threads: one batch after the other.
    if cfg!(target_family = "wasm") {
        let mut own = B::default();
        loop {
            let batch = shared.lock().batch();
            if batch.is_empty() {
                break;
            }
            let (send, receive) = mpsc::sync_channel(batch.len());
            shared.fetch(source, batch, &send);
            drop(send);
            receive.into_iter().for_each(|arrived| shared.work(&mut own, arrived, &work));
        }
        return shared.result();
    }
    thread::scope(|scope| {
        // What waits here has left its batch, so a few more are on their way.
        let (send, receive) = mpsc::sync_channel(lanes);
        for _ in 0..FETCHERS {
            let (send, shared) = (send.clone(), &shared);
            thread::Builder::new().name("hdfive-fetch".to_owned()).spawn_scoped(scope, move || {
                loop {
                    let batch = shared.lock().batch();
                    if batch.is_empty() {
                        return;
                    }
                    shared.fetch(source, batch, &send);
                }
            })?;
        }
        drop(send);
        lanes::run(lanes, receive.into_iter(), |own: &mut B, arrived| {
            shared.work(own, arrived, &work);
            Ok(())
        })
    })?;
    shared.result()
}

/// What fetchers and lanes share.
struct Shared<I: Iterator>(Mutex<State<I>>);

struct State<I: Iterator> {
    tasks: Peekable<Enumerate<I>>,
    /// The first task that failed. No batch is taken then; the tasks before it were all taken before.
    failed: Option<(usize, Error)>,
}

impl<T, I: Iterator<Item = Result<(T, ByteRange)>>> Shared<I> {
    fn lock(&self) -> MutexGuard<'_, State<I>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a task before `number` failed, so that this one does not matter.
    fn is_over(&self, number: usize) -> bool {
        self.lock().failed.as_ref().is_some_and(|(first, _)| *first < number)
    }

    /// Does a task whose bytes have come, unless one before it failed.
    fn work<B>(
        &self,
        own: &mut B,
        (number, task, stored): Arrived<T>,
        work: &impl Fn(&mut B, T, Result<Vec<u8>>) -> Result<()>,
    ) {
        if !self.is_over(number)
            && let Err(error) = work(own, task, stored)
        {
            self.lock().fail(number, error);
        }
    }

    /// The error of the first task that failed.
    fn result(&self) -> Result<()> {
        self.lock().failed.take().map_or(Ok(()), |(_, error)| Err(error))
    }

    fn fetch(&self, source: &dyn ByteSource, batch: Vec<Taken<T>>, send: &mpsc::SyncSender<Arrived<T>>) {
        let (mut waiting, mut wanted) = (HashMap::<ByteRange, Vec<(usize, T)>>::new(), Vec::new());
        let mut first = usize::MAX;
        for (number, task, range) in batch {
            first = first.min(number);
            waiting.entry(range).or_default().push((number, task));
            // What a file claims was held against what is there.
            let size = usize::try_from(range.size).unwrap_or(usize::MAX);
            wanted.push(Wanted { range, buffer: Buffer::Owned(vec![0; size]) });
        }
        let result = source.read_ranges(wanted, &mut |arrived| {
            let cancelled = || Error::new(ErrorKind::Cancelled, "nobody wants it any more");
            if self.is_over(first) {
                return Err(cancelled());
            }
            let task = waiting.get_mut(&arrived.range).and_then(Vec::pop);
            let (number, task) = task.ok_or_else(|| Error::invalid("a source hands over what nobody wants"))?;
            send.send((number, task, Ok(arrived.buffer.into_vec()))).map_err(|_| cancelled())
        });
        if let Err(error) = result {
            let first = waiting.into_values().flatten().min_by_key(|(number, _)| *number);
            // If nobody receives, nobody waits for the error.
            let _ = first.map(|(number, task)| send.send((number, task, Err(error))));
        }
    }
}

impl<T, I: Iterator<Item = Result<(T, ByteRange)>>> State<I> {
    /// The next tasks, of which the ranges fit into a batch.
    fn batch(&mut self) -> Vec<Taken<T>> {
        let (mut batch, mut bytes) = (Vec::new(), 0u64);
        while self.failed.is_none()
            && let Some((_, next)) = self.tasks.peek()
        {
            bytes = bytes.saturating_add(next.as_ref().map_or(0, |(_, range)| range.size));
            if bytes > BATCH && !batch.is_empty() {
                break;
            }
            match self.tasks.next() {
                Some((number, Ok((task, range)))) => batch.push((number, task, range)),
                Some((number, Err(error))) => self.fail(number, error),
                None => break,
            }
        }
        batch
    }

    fn fail(&mut self, number: usize, error: Error) {
        if self.failed.as_ref().is_none_or(|(first, _)| number < *first) {
            self.failed = Some((number, error));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::storage::{Identity, MemorySource};
    use crate::wire::Addr;

    /// Hands over the last range first, and fails where it is told to.
    #[derive(Debug)]
    struct Backwards {
        memory: MemorySource,
        broken: u64,
    }

    impl ByteSource for Backwards {
        fn len(&self) -> Result<u64> {
            self.memory.len()
        }

        fn identity(&self) -> Identity {
            Identity::None
        }

        fn read_ranges<'a>(
            &self,
            mut wanted: Vec<Wanted<'a>>,
            arrived: &mut dyn FnMut(Wanted<'a>) -> Result<()>,
        ) -> Result<()> {
            wanted.reverse();
            for wanted in wanted {
                if wanted.range.addr.0 == self.broken {
                    return Err(Error::new(ErrorKind::Io, format!("broken at {}", self.broken)));
                }
                self.memory.read_ranges(vec![wanted], arrived)?;
            }
            Ok(())
        }
    }

    fn source(broken: u64) -> Backwards {
        let bytes: Vec<u8> = (0..4000u32).flat_map(u32::to_le_bytes).collect();
        Backwards { memory: MemorySource::new(bytes), broken }
    }

    fn tasks() -> impl Iterator<Item = Result<(usize, ByteRange)>> + Send {
        // Some want the same.
        (0..4000).map(|n| Ok((n, ByteRange::of(Addr(u64::try_from(n / 2 * 4).unwrap()), 4))))
    }

    #[test]
    fn every_task_is_done_once_with_its_bytes() {
        for lanes in [1, 2, 8] {
            let sum = AtomicUsize::new(0);
            run(&source(u64::MAX), lanes, tasks(), |(): &mut (), n: usize, stored: Result<Vec<u8>>| {
                let value = u32::from_le_bytes(stored?.try_into().unwrap());
                assert_eq!(usize::try_from(value).unwrap(), n / 2);
                sum.fetch_add(n, Ordering::Relaxed);
                Ok(())
            })
            .unwrap();
            assert_eq!(sum.into_inner(), 3999 * 4000 / 2, "{lanes} lanes");
        }
    }

    #[test]
    fn the_first_task_that_fails_gives_the_error() {
        for lanes in [1, 2, 8] {
            let work = |(): &mut (), n: usize, stored: Result<Vec<u8>>| match n {
                1000.. => Err(Error::corrupt(n.to_string())),
                _ => stored.map(|_| ()),
            };
            assert_eq!(run(&source(u64::MAX), lanes, tasks(), work).unwrap_err().message(), "1000", "{lanes} lanes");
            let broken_task = tasks().map(|task| match task? {
                (700, _) => Err(Error::corrupt("none")),
                task => Ok(task),
            });
            assert_eq!(run(&source(u64::MAX), lanes, broken_task, work).unwrap_err().message(), "none");
        }
    }

    #[test]
    fn a_source_that_fails_gives_its_error() {
        let work = |(): &mut (), _: usize, stored: Result<Vec<u8>>| stored.map(|_| ());
        assert_eq!(run(&source(400), 2, tasks(), work).unwrap_err().message(), "broken at 400");
    }
}
