//! What may be tried again, and when.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::{Duration, Instant, SystemTime};

use crate::error::{Error, ErrorKind, Result};

/// Nobody waits longer than this because a server asks for it.
const LONGEST_WAIT: Duration = Duration::from_secs(60);
/// Nor longer than this otherwise.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);
/// How often a wait looks whether it is still wanted.
const SLICE: Duration = Duration::from_millis(50);

/// Why a request failed.
#[derive(Debug)]
pub(super) enum Fault {
    /// It will fail again.
    Final(Error),
    /// It may not, after a while; the server may have said how long.
    Passing(Error, Option<Duration>),
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Fault::Final(error)
    }
}

/// A fault that may pass.
pub(super) fn passing(what: impl Into<String>) -> Fault {
    Fault::Passing(Error::new(ErrorKind::Io, what.into()), None)
}

/// Counts failures and waits between them: twice as long each time, by chance up to a half less, so that clients that failed
/// together do not come back together.
#[derive(Debug)]
pub(super) struct Backoff {
    attempts: u32,
    pause: Duration,
    failed: u32,
}

impl Backoff {
    pub(super) fn new(attempts: u32, pause: Duration) -> Self {
        Backoff { attempts, pause, failed: 0 }
    }

    /// Forgets failures before.
    pub(super) fn restart(&mut self) {
        self.failed = 0;
    }

    /// Waits until the next attempt. Errors: that of the fault, if there is to be none; `Cancelled` if `wanted` says so.
    pub(super) fn wait(&mut self, fault: Fault, wanted: impl Fn() -> Result<()>) -> Result<()> {
        let (error, asked) = match fault {
            Fault::Final(error) => return Err(error),
            Fault::Passing(error, asked) => (error, asked),
        };
        self.failed += 1;
        if self.failed >= self.attempts || asked.is_some_and(|asked| asked > LONGEST_WAIT) {
            return Err(error);
        }
        let doubled = self.pause.saturating_mul(1 << (self.failed - 1).min(16)).min(LONGEST_PAUSE);
        let chance = u32::try_from(RandomState::new().build_hasher().finish() % 1000).unwrap_or(0);
        let pause = doubled / 2 + doubled / 2 * chance / 1000;
        let end = Instant::now() + asked.unwrap_or(Duration::ZERO).max(pause);
        loop {
            wanted()?;
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(());
            }
            std::thread::sleep(left.min(SLICE));
        }
    }
}

/// What `Retry-After` says: seconds, or a date.
pub(super) fn retry_after(value: &str, now: SystemTime) -> Option<Duration> {
    match value.trim().parse() {
        Ok(seconds) => Some(Duration::from_secs(seconds)),
        Err(_) => Some(httpdate::parse_http_date(value).ok()?.duration_since(now).unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn io(asked: Option<Duration>) -> Fault {
        Fault::Passing(Error::new(ErrorKind::Io, "gone"), asked)
    }

    #[test]
    fn the_last_attempt_gives_the_error() {
        let mut backoff = Backoff::new(3, Duration::from_micros(1));
        let wanted = || Ok(());
        assert!(backoff.wait(io(None), wanted).is_ok() && backoff.wait(io(None), wanted).is_ok());
        assert_eq!(backoff.wait(io(None), wanted).unwrap_err().message(), "gone");
        let last = Fault::Final(Error::invalid("never"));
        assert!(Backoff::new(3, Duration::ZERO).wait(last, wanted).is_err());
    }

    #[test]
    fn a_server_is_waited_for_as_long_as_it_asks_but_not_an_hour() {
        let mut backoff = Backoff::new(3, Duration::ZERO);
        let before = Instant::now();
        backoff.wait(io(Some(Duration::from_millis(120))), || Ok(())).unwrap();
        assert!(before.elapsed() >= Duration::from_millis(120));
        assert!(backoff.wait(io(Some(Duration::from_secs(3600))), || Ok(())).is_err());
    }

    #[test]
    fn a_wait_ends_when_nobody_wants_it() {
        let mut backoff = Backoff::new(3, Duration::ZERO);
        let unwanted = || Err(Error::new(ErrorKind::Cancelled, "enough"));
        let error = backoff.wait(io(Some(Duration::from_secs(30))), unwanted).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Cancelled);
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
        assert_eq!(retry_after(" 7", now), Some(Duration::from_secs(7)));
        assert_eq!(retry_after("Sun, 06 Nov 1994 08:49:47 GMT", now), Some(Duration::from_secs(10)));
        assert_eq!(retry_after("Sun, 06 Nov 1994 08:49:27 GMT", now), Some(Duration::ZERO));
        assert_eq!(retry_after("soon", now), None);
    }
}
