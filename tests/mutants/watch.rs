//! Measures jobs against what they may cost, and ends the process where one does not end.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use hdfive::Result;

use crate::allocations::measured;
use crate::everything::Watch;

/// Memory that a job may hold beyond the data that it was asked for.
const MEMORY: usize = 64 << 20;
/// How often it is looked whether a mutant has ended.
const LOOK: Duration = Duration::from_millis(200);
/// A mutant that is still there after so many looks never ends. Looks are counted, as whoever stops the process stops
/// these too.
const NEVER: u32 = 600;

/// What the jobs on one file cost.
#[derive(Debug)]
pub(crate) struct Watched {
    size: usize,
    /// The longest time in parts of what was allowed.
    pub(crate) slowest: f64,
    /// The most memory beyond the data asked for.
    pub(crate) most: usize,
    /// Jobs that went well.
    pub(crate) read: usize,
    /// What was more than is allowed.
    pub(crate) failures: Vec<String>,
}

impl Watched {
    /// For a file of `size` bytes.
    pub(crate) fn new(size: usize) -> Self {
        Watched { size, slowest: 0.0, most: 0, read: 0, failures: Vec::new() }
    }

    /// Whether a job took longer than is allowed.
    pub(crate) fn is_late(&self) -> bool {
        self.slowest > 1.0
    }

    /// 1 s, and 1 s per 100 KiB of file, and 1 s per 256 MiB of data.
    fn time_for(&self, data: usize) -> Duration {
        let parts = |bytes: usize, unit: u32| Duration::from_secs(1) * u32::try_from(bytes).unwrap_or(u32::MAX) / unit;
        Duration::from_secs(1) + parts(self.size, 100 << 10) + parts(data, 256 << 20)
    }
}

impl Watch for Watched {
    fn job<T>(&mut self, what: &str, asked: u64, job: impl FnOnce() -> Result<T>) -> Result<T> {
        let start = Instant::now();
        let (result, memory) = measured(job);
        let taken = start.elapsed();
        // What was asked for is at least what was given.
        let asked = usize::try_from(asked).unwrap().max(memory.result);
        let (allowed, beyond) = (self.time_for(asked), memory.most.saturating_sub(asked));
        self.slowest = self.slowest.max(taken.as_secs_f64() / allowed.as_secs_f64());
        self.most = self.most.max(beyond);
        if taken > allowed {
            self.failures.push(format!("{what} took {taken:?}, {allowed:?} are allowed"));
        }
        if beyond > MEMORY {
            self.failures.push(format!("{what} held {} KiB beyond the {asked} bytes asked for", beyond >> 10));
        }
        self.read += usize::from(result.is_ok());
        result
    }
}

/// Says which mutant does not end, and ends the process.
pub(crate) struct Watchdog(Arc<Mutex<Option<(String, u32)>>>);

impl Watchdog {
    pub(crate) fn start() -> Watchdog {
        let now = Arc::new(Mutex::new(Some((String::new(), 0))));
        let watched = Arc::clone(&now);
        std::thread::spawn(move || {
            loop {
                {
                    let mut now = watched.lock().unwrap();
                    let Some((name, looks)) = &mut *now else { break };
                    *looks += 1;
                    if *looks > NEVER {
                        eprintln!("{name} does not end");
                        std::process::exit(101);
                    }
                }
                std::thread::sleep(LOOK);
            }
        });
        Watchdog(now)
    }

    /// A new mutant begins. Its name is kept in a file too: a stack that overflows ends the process.
    pub(crate) fn look_at(&self, name: &str) {
        let _ = std::fs::write(concat!(env!("CARGO_TARGET_TMPDIR"), "/mutant"), name);
        *self.0.lock().unwrap() = Some((name.to_owned(), 0));
    }

    pub(crate) fn stop(self) {
        *self.0.lock().unwrap() = None;
    }
}
