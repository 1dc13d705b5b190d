//! Addresses of files: `http://` and `https://`.

use ureq::http::Uri;

use crate::error::{Error, Result};

/// Where a file is.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Address {
    uri: Uri,
}

/// Scheme, host and port: who answers.
#[derive(PartialEq, Eq)]
pub(super) struct Origin {
    pub(super) is_secure: bool,
    host: String,
    port: u16,
}

impl Address {
    /// Errors are `Invalid`; they do not repeat the address, which may hold a secret.
    pub(super) fn parse(text: &str) -> Result<Address> {
        let no_url =
            || Error::invalid("this is no URL that begins with http:// or https://, or it has unquoted characters");
        let uri: Uri = text.parse().map_err(|_| no_url())?;
        let is_http = matches!(uri.scheme_str(), Some("http" | "https"));
        let Some(authority) = uri.authority().filter(|authority| is_http && !authority.host().is_empty()) else {
            return Err(no_url());
        };
        if authority.as_str().contains('@') {
            return Err(Error::invalid("the URL holds a password; give a token instead"));
        }
        Ok(Address { uri })
    }

    pub(super) fn as_uri(&self) -> &Uri {
        &self.uri
    }

    pub(super) fn origin(&self) -> Origin {
        let is_secure = self.uri.scheme_str() == Some("https");
        let host = self.uri.host().unwrap_or_default().to_ascii_lowercase();
        Origin { is_secure, host, port: self.uri.port_u16().unwrap_or(if is_secure { 443 } else { 80 }) }
    }

    /// The address that `location`, found here, stands for.
    pub(super) fn join(&self, location: &str) -> Result<Address> {
        let scheme = self.uri.scheme_str().unwrap_or("https");
        let host = self.uri.authority().map_or("", |authority| authority.as_str());
        let folder = self.uri.path().rsplit_once('/').map_or("", |(folder, _)| folder);
        let location = location.split('#').next().unwrap_or_default();
        Address::parse(&match location {
            _ if location.starts_with("http://") || location.starts_with("https://") => location.to_owned(),
            _ if location.starts_with("//") => format!("{scheme}:{location}"),
            _ if location.starts_with('/') => format!("{scheme}://{host}{location}"),
            _ => format!("{scheme}://{host}{folder}/{location}"),
        })
    }

    pub(super) fn query(&self) -> Option<&str> {
        self.uri.query()
    }
}

/// A URL as it may be shown: without user, password and query, which may be secrets.
pub(crate) fn shown(url: &str) -> String {
    let url = url.split(['?', '#']).next().unwrap_or_default();
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = host.rsplit('@').next().unwrap_or_default();
    format!("{scheme}://{host}{path}")
}

/// `text` with everything quoted that cannot stand in a path.
pub(crate) fn quoted(text: &str) -> String {
    let mut all = String::new();
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => all.push(char::from(byte)),
            _ => all.push_str(&format!("%{byte:02X}")),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locations_are_joined_as_browsers_do() {
        let base = Address::parse("https://a.org:8443/x/y.h5?token=1").unwrap();
        let joined = |location: &str| base.join(location).map(|to| to.uri.to_string());
        assert_eq!(joined("http://b.org/z").unwrap(), "http://b.org/z");
        assert_eq!(joined("//b.org/z").unwrap(), "https://b.org/z");
        assert_eq!(joined("/z?q=1#part").unwrap(), "https://a.org:8443/z?q=1");
        assert_eq!(joined("z").unwrap(), "https://a.org:8443/x/z");
        assert!(joined("ftp://b.org/z").is_ok_and(|to| to.starts_with("https://a.org:8443/x/")));
    }

    #[test]
    fn an_origin_is_scheme_host_and_port() {
        let origin = |url: &str| Address::parse(url).unwrap().origin();
        assert!(origin("https://A.org/x") == origin("https://a.org:443/y"));
        assert!(origin("https://a.org/x") != origin("http://a.org/x"));
        assert!(origin("https://a.org/x") != origin("https://b.a.org/x"));
    }

    #[test]
    fn secrets_are_not_shown() {
        assert_eq!(shown("https://me:word@a.org/x%20y.h5?signature=1#2"), "https://a.org/x%20y.h5");
        assert!(Address::parse("https://me:word@a.org/x").is_err_and(|e| !e.to_string().contains("word@")));
        for wrong in ["", "x.h5", "ftp://a.org/x", "http://", "http:///x", "https://a.org/a b"] {
            assert!(Address::parse(wrong).is_err(), "{wrong}");
        }
    }
}
