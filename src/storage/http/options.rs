//! How files behind URLs are read.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::storage::IoProfile;

/// Gives a token when one is needed.
type Token = Arc<dyn Fn() -> Option<String> + Send + Sync>;

/// How files behind URLs are read. Each method takes and gives the options.
///
/// ```no_run
/// # fn main() -> hdfive::Result<()> {
/// use hdfive::storage::http::HttpOptions;
/// let http = HttpOptions::new().token(|| std::env::var("MY_TOKEN").ok());
/// let file = hdfive::OpenOptions::new().http(http).open_url("https://example.org/weather.h5")?;
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct HttpOptions {
    pub(super) token: Option<Token>,
    pub(super) timeout: Duration,
    pub(super) attempts: u32,
    pub(super) pause: Duration,
    pub(super) profile: IoProfile,
    pub(super) largest_body: u64,
    pub(super) certificates: Option<PathBuf>,
    pub(super) endpoint: Option<String>,
}

impl Default for HttpOptions {
    fn default() -> Self {
        HttpOptions {
            token: None,
            timeout: Duration::from_secs(30),
            attempts: 5,
            pause: Duration::from_millis(200),
            profile: IoProfile::REMOTE,
            largest_body: 256 << 20,
            certificates: None,
            endpoint: None,
        }
    }
}

impl HttpOptions {
    /// The usual options: no token, 30 seconds for a server to answer, 5 attempts.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sends what `token` gives, if anything, as a bearer token: to the host of the URL only, never to one that it redirects
    /// to. It is asked before each request, so that it can renew the token; it is never shown.
    #[must_use]
    pub fn token(mut self, token: impl Fn() -> Option<String> + Send + Sync + 'static) -> Self {
        self.token = Some(Arc::new(token));
        self
    }

    /// How long to wait for a connection, for the beginning of an answer, and for each next part of it.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// How often to try, and how long to pause after the first failure; pauses double.
    #[must_use]
    pub fn attempts(mut self, attempts: u32, pause: Duration) -> Self {
        (self.attempts, self.pause) = (attempts, pause);
        self
    }

    /// What a request costs, and how many are made at the same time.
    #[must_use]
    pub fn profile(mut self, profile: IoProfile) -> Self {
        self.profile = IoProfile { on_the_spot: false, ..profile };
        self
    }

    /// Bytes of the largest file that is taken as a whole, and kept in memory, from a server that does not know ranges.
    #[must_use]
    pub fn largest_body(mut self, bytes: u64) -> Self {
        self.largest_body = bytes;
        self
    }

    /// Believes servers by the certificates in a file (PEM), instead of those that `SSL_CERT_FILE` names or of the system.
    #[must_use]
    pub fn certificates(mut self, path: impl Into<PathBuf>) -> Self {
        self.certificates = Some(path.into());
        self
    }

    /// Where names that begin with `hf://` are, instead of where `HF_ENDPOINT` says, or at huggingface.co.
    #[must_use]
    pub fn endpoint(mut self, url: impl Into<String>) -> Self {
        self.endpoint = Some(url.into());
        self
    }

    pub(super) fn current_token(&self) -> Option<String> {
        self.token.as_ref()?()
    }

    pub(super) fn has_token(&self) -> bool {
        self.token.is_some()
    }
}

impl fmt::Debug for HttpOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpOptions")
            .field("has_token", &self.has_token())
            .field("timeout", &self.timeout)
            .field("attempts", &self.attempts)
            .field("pause", &self.pause)
            .field("profile", &self.profile)
            .field("largest_body", &self.largest_body)
            .field("certificates", &self.certificates)
            .field("endpoint", &self.endpoint)
            .finish()
    }
}
