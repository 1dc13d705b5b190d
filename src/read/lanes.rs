//! Tasks in lanes: each lane takes the next task when it is done with one, and keeps its buffers. Lanes run on the current
//! pool of threads (feature `rayon`), or there is one.
//!
//! ```text
//! lane 0   task 0   task 3   task 4        at most as many tasks, and as many buffers, at once as there are lanes
//! lane 1   task 1   task 2      task 5
//! ```
//! A thread of the pool that waits for its other lanes may take up lanes of other reads, never single tasks: so a read has
//! no more buffers than lanes, however threads are shared. What is done does not depend on the number of lanes, nor
//! does the error: it is that of the first task that fails.

use crate::error::Result;

/// Less than this many bytes are not worth a second thread.
const SMALL: u64 = 64 << 10;

/// How many lanes are worth it for so many tasks that come to so many bytes, if there may be `most`.
#[cfg(feature = "rayon")]
pub(crate) fn number(most: usize, tasks: usize, bytes: u64) -> usize {
    if bytes < SMALL || tasks < 2 { 1 } else { most.min(rayon::current_num_threads()).min(tasks).max(1) }
}

/// One.
#[cfg(not(feature = "rayon"))]
pub(crate) fn number(_most: usize, _tasks: usize, _bytes: u64) -> usize {
    let _ = SMALL;
    1
}

/// Does `work` for each task, in at most so many lanes, each with its own `B`. Tasks are made when a lane is there to do
/// them.
pub(crate) fn run<B: Default, T: Send>(
    lanes: usize,
    tasks: impl Iterator<Item = T> + Send,
    work: impl Fn(&mut B, T) -> Result<()> + Sync,
) -> Result<()> {
    #[cfg(feature = "rayon")]
    if lanes > 1 {
        return parallel::run(lanes, tasks, work);
    }
    let _ = lanes;
    let (mut own, mut tasks) = (B::default(), tasks);
    tasks.try_for_each(|task| work(&mut own, task))
}

#[cfg(feature = "rayon")]
mod parallel {
    use std::sync::{Mutex, PoisonError};

    use rayon::prelude::*;

    use crate::error::{Error, Result};

    /// What lanes share.
    struct Shared<I> {
        tasks: std::iter::Enumerate<I>,
        /// The first task that failed. No lane takes another one then; those before it were all taken before.
        failed: Option<(usize, Error)>,
    }

    pub(super) fn run<B: Default, T: Send>(
        lanes: usize,
        tasks: impl Iterator<Item = T> + Send,
        work: impl Fn(&mut B, T) -> Result<()> + Sync,
    ) -> Result<()> {
        let shared = Mutex::new(Shared { tasks: tasks.enumerate(), failed: None });
        let lock = || shared.lock().unwrap_or_else(PoisonError::into_inner);
        let next = || {
            let mut shared = lock();
            if shared.failed.is_some() { None } else { shared.tasks.next() }
        };
        (0..lanes).into_par_iter().with_max_len(1).for_each(|_| {
            let mut own = B::default();
            while let Some((number, task)) = next() {
                if let Err(error) = work(&mut own, task) {
                    let failed = &mut lock().failed;
                    if failed.as_ref().is_none_or(|(first, _)| number < *first) {
                        *failed = Some((number, error));
                    }
                }
            }
        });
        shared.into_inner().unwrap_or_else(PoisonError::into_inner).failed.map_or(Ok(()), |(_, error)| Err(error))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;
    use crate::error::Error;

    #[test]
    fn every_task_is_done_once_whatever_the_number_of_lanes() {
        for lanes in [1, 2, 8] {
            let done: Vec<AtomicU32> = (0..1000).map(|_| AtomicU32::new(0)).collect();
            let work = |before: &mut usize, task: usize| {
                *before += 1;
                done[task].fetch_add(1, Ordering::Relaxed);
                Ok(())
            };
            run(lanes, 0..1000, work).unwrap();
            assert!(done.iter().all(|times| times.load(Ordering::Relaxed) == 1), "{lanes} lanes");
        }
    }

    /// Buffers are as many as lanes, so that memory is bounded.
    #[test]
    fn a_lane_keeps_what_is_its_own() {
        static MADE: AtomicU32 = AtomicU32::new(0);
        struct Own;
        impl Default for Own {
            fn default() -> Self {
                MADE.fetch_add(1, Ordering::Relaxed);
                Own
            }
        }
        run(3, 0..1000, |_: &mut Own, _| Ok(())).unwrap();
        assert!((1..=3).contains(&MADE.load(Ordering::Relaxed)));
    }

    #[test]
    fn the_first_task_that_fails_gives_the_error() {
        for lanes in [1, 2, 8] {
            for _ in 0..50 {
                let work = |(): &mut (), task: u32| match task {
                    // The first that fails takes longest.
                    41 => {
                        std::thread::sleep(std::time::Duration::from_micros(200));
                        Err(Error::corrupt("41"))
                    }
                    42.. => Err(Error::corrupt("a later one")),
                    _ => Ok(()),
                };
                assert_eq!(run(lanes, 0..200, work).unwrap_err().message(), "41", "{lanes} lanes");
            }
        }
    }
}
