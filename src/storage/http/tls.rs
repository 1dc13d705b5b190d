//! Encryption, without C: what certificates are trusted, and whether this processor can do it.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};

use crate::error::{Error, Place, Result};

/// Where systems keep the certificates that they trust.
const BUNDLES: [&str; 6] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
    "/usr/local/share/certs/ca-root-nss.crt",
];

/// How to speak to servers: they are believed by the certificates in `bundle`, otherwise by those that `SSL_CERT_FILE` names,
/// otherwise by those of the system. The latter are read once.
///
/// Errors are `Unsupported` on a processor without encryption in hardware, `Io` and `NotFound` for certificates.
pub(super) fn config(bundle: Option<&Path>) -> Result<TlsConfig> {
    static USUAL: OnceLock<Result<TlsConfig>> = OnceLock::new();
    match bundle {
        Some(path) => trusting(path),
        None => USUAL.get_or_init(usual).clone(),
    }
}

fn usual() -> Result<TlsConfig> {
    let named = std::env::var_os("SSL_CERT_FILE").map(PathBuf::from);
    let path = named.or_else(|| BUNDLES.iter().map(PathBuf::from).find(|path| path.exists()));
    trusting(&path.ok_or_else(|| {
        Error::not_found("no certificates are known on this system (SSL_CERT_FILE can name a file of them)")
    })?)
}

fn trusting(path: &Path) -> Result<TlsConfig> {
    let pem = std::fs::read(path).map_err(|e| Error::from(e).at(Place::File(path.display().to_string())))?;
    let certificates: Vec<Certificate<'static>> = parse_pem(&pem)
        .filter_map(|item| match item {
            Ok(PemItem::Certificate(certificate)) => Some(certificate),
            _ => None,
        })
        .collect();
    if certificates.is_empty() {
        return Err(Error::not_found(format!("{} holds no certificates", path.display())));
    }
    encrypted(TlsConfig::builder().root_certs(RootCerts::new_with_certs(&certificates)))
}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn encrypted(builder: ureq::tls::TlsConfigBuilder) -> Result<TlsConfig> {
    if !is_able() {
        return Err(Error::unsupported(
            "this processor is too old for https:// (it lacks instructions for encryption)",
        ));
    }
    let provider = std::sync::Arc::new(rustls_graviola::default_provider());
    Ok(builder.unversioned_rustls_crypto_provider(provider).build())
}

/// What the crate for cryptography asks for; it panics without.
#[cfg(target_arch = "x86_64")]
fn is_able() -> bool {
    use std::arch::is_x86_feature_detected as has;
    has!("aes") && has!("pclmulqdq") && has!("bmi1") && has!("bmi2") && has!("adx") && has!("avx") && has!("avx2")
}

#[cfg(target_arch = "aarch64")]
fn is_able() -> bool {
    use std::arch::is_aarch64_feature_detected as has;
    has!("neon") && has!("aes") && has!("pmull") && has!("sha2")
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn encrypted(_: ureq::tls::TlsConfigBuilder) -> Result<TlsConfig> {
    Err(Error::unsupported("there is no https:// on this kind of processor"))
}
