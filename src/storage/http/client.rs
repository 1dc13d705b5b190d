//! Requests for ranges: connections that serve again, redirects, tokens, and bounds on how much is asked at once.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use ureq::Agent;

use super::address::{Address, Origin};
use super::answer::Answer;
use super::options::HttpOptions;
use super::retry::{Fault, passing};
use super::tls;
use crate::error::{Error, ErrorKind, Result};

/// Redirects followed at most.
const MOST_REDIRECTS: usize = 10;
/// How long a connection that nobody uses is kept.
const IDLE: std::time::Duration = std::time::Duration::from_secs(15);

/// Who asks for ranges of one file.
pub(super) struct Client {
    /// `None` once it is closed.
    agent: Mutex<Option<Agent>>,
    pub(super) address: Address,
    /// Where redirects led the last time; such an address may hold for a while only.
    moved: Mutex<Option<Address>>,
    pub(super) options: HttpOptions,
    gate: Gate,
}

impl Client {
    /// Errors are `Invalid` for what is no URL, and those of certificates.
    pub(super) fn new(url: &str, options: HttpOptions) -> Result<Client> {
        let address = Address::parse(url)?;
        let connections = options.profile.connections.max(1);
        let mut config = Agent::config_builder()
            .user_agent(concat!("hdfive/", env!("CARGO_PKG_VERSION")))
            .accept_encoding("identity")
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .max_idle_connections(connections)
            .max_idle_connections_per_host(connections)
            .max_idle_age(IDLE)
            .timeout_resolve(Some(options.timeout))
            .timeout_connect(Some(options.timeout))
            .timeout_recv_response(Some(options.timeout))
            .timeout_per_read(Some(options.timeout))
            .timeout_per_write(Some(options.timeout))
            .timeout_recv_body(Some(options.timeout.saturating_mul(4)));
        // A server that is reached in the open may lead to one that is not, but the certificates may be missing then.
        match tls::config(options.certificates.as_deref()) {
            Ok(tls) => config = config.tls_config(tls),
            Err(error) if address.origin().is_secure => return Err(error),
            Err(_) => {}
        }
        let agent = Mutex::new(Some(config.build().new_agent()));
        Ok(Client { agent, address, moved: Mutex::default(), options, gate: Gate::new(connections) })
    }

    /// Drops all connections; what is asked from now on fails.
    pub(super) fn close(&self) {
        *lock(&self.agent) = None;
    }

    /// Errors are `Invalid` if it was closed.
    pub(super) fn check_open(&self) -> Result<()> {
        self.agent().map(|_| ())
    }

    fn agent(&self) -> Result<Agent> {
        lock(&self.agent).clone().ok_or_else(|| Error::invalid("the source was closed"))
    }

    /// Asks for the bytes from `first` to `last`. The answer's status is one that `Answer::check_status` lets pass; it holds a
    /// connection as long as the permit does.
    pub(super) fn get(&self, first: u64, last: u64) -> Result<(Answer, Permit<'_>), Fault> {
        let (agent, permit, range) = (self.agent()?, self.gate.enter(), format!("bytes={first}-{last}"));
        let moved = lock(&self.moved).clone();
        if let Some(moved) = moved {
            let answer = self.ask(&agent, &moved, &range)?;
            let has_run_out = matches!(answer.status, 300..=399 | 401 | 403 | 404 | 410);
            if !has_run_out {
                answer.check_status()?;
                return Ok((answer, permit));
            }
            *lock(&self.moved) = None;
        }
        let (mut at, mut linked) = (self.address.clone(), None);
        for _ in 0..=MOST_REDIRECTS {
            let mut answer = self.ask(&agent, &at, &range)?;
            linked = linked.or_else(|| answer.header("x-linked-etag").map(str::to_owned));
            if !matches!(answer.status, 301 | 302 | 303 | 307 | 308) {
                answer.check_status()?;
                if at != self.address {
                    *lock(&self.moved) = Some(at);
                }
                answer.linked = linked;
                return Ok((answer, permit));
            }
            let location =
                answer.header("location").ok_or_else(|| Error::new(ErrorKind::Io, "a redirect to nowhere"))?;
            let next = at.join(location)?;
            if at.origin().is_secure && !next.origin().is_secure {
                return Err(Error::denied("the server redirects from https:// to http://").into());
            }
            at = next;
        }
        Err(Error::new(ErrorKind::Io, format!("more than {MOST_REDIRECTS} redirects")).into())
    }

    fn ask(&self, agent: &Agent, at: &Address, range: &str) -> Result<Answer, Fault> {
        let mut request = agent.get(at.as_uri()).header("range", range);
        if let Some(token) = self.token_for(&at.origin()) {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        request.call().map(|response| Answer::new(response, None)).map_err(fault)
    }

    /// The token, for nobody but the server that the user named.
    fn token_for(&self, origin: &Origin) -> Option<String> {
        if *origin == self.address.origin() { self.options.current_token() } else { None }
    }
}

/// Which errors pass. None of their texts has an address in it.
fn fault(error: ureq::Error) -> Fault {
    match error {
        ureq::Error::Io(error) => passing(format!("the connection fails: {error}")),
        ureq::Error::Timeout(what) => passing(format!("the server does not answer in time ({what})")),
        ureq::Error::ConnectionFailed => passing("no connection to the server"),
        ureq::Error::BodyStalled => passing("the answer stalls"),
        ureq::Error::Protocol(error) => passing(format!("the answer is no HTTP: {error}")),
        ureq::Error::HostNotFound => Error::not_found("no such host").into(),
        ureq::Error::Tls(what) => Error::new(ErrorKind::Io, format!("no encrypted connection: {what}")).into(),
        ureq::Error::Rustls(error) => Error::new(ErrorKind::Io, format!("no encrypted connection: {error}")).into(),
        _ => Error::new(ErrorKind::Io, "the request cannot be made").into(),
    }
}

/// Lets so many in at a time.
struct Gate {
    free: Mutex<usize>,
    left: Condvar,
}

/// Somebody is in.
pub(super) struct Permit<'a>(&'a Gate);

impl Gate {
    fn new(places: usize) -> Gate {
        Gate { free: Mutex::new(places), left: Condvar::new() }
    }

    fn enter(&self) -> Permit<'_> {
        let mut free = lock(&self.free);
        while *free == 0 {
            free = self.left.wait(free).unwrap_or_else(PoisonError::into_inner);
        }
        *free -= 1;
        Permit(self)
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        *lock(&self.0.free) += 1;
        self.0.left.notify_one();
    }
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
