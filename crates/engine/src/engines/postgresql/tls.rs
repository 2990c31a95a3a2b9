//! What a URL asks of TLS, in libpq's words, and the client side of it by rustls. Sends nothing itself. Source: PostgreSQL manual, "SSL Support".

use super::hosts::words;
use crate::contract::Error;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Whether a connection is encrypted, and how far the server is proved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum TlsMode {
    /// Never.
    Disable,
    /// Only where the server refuses the connection without.
    Allow,
    /// Where the server can.
    Prefer,
    /// Always, by any certificate.
    Require,
    /// Always, by a certificate that a known authority signed.
    VerifyCa,
    /// The same, made out for this host.
    VerifyFull,
}

/// What is asked of TLS.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TlsAsked {
    pub(super) mode: TlsMode,
    root: Option<PathBuf>,
    certificate: Option<PathBuf>,
    key: Option<PathBuf>,
}

impl TlsAsked {
    /// Parts a URL or a list of words into what the driver reads and what is asked of TLS. Without `sslmode` nothing is encrypted: a study
    /// measures what it names.
    pub(super) fn part(text: &str) -> Result<(String, Self), Error> {
        let mut asked = Self { mode: TlsMode::Disable, root: None, certificate: None, key: None };
        let rest = if text.contains("://") {
            let Some((head, query)) = text.split_once('?') else { return Ok((text.to_owned(), asked)) };
            let mut kept = Vec::new();
            for pair in query.split('&') {
                let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
                if !asked.take(key, &decoded(value))? {
                    kept.push(pair);
                }
            }
            if kept.is_empty() { head.to_owned() } else { format!("{head}?{}", kept.join("&")) }
        } else {
            // What has another form is refused by the driver, in its words.
            let Some(words) = words(text) else { return Ok((text.to_owned(), asked)) };
            let mut kept = Vec::new();
            for (key, value) in words {
                if !asked.take(&key, &value)? {
                    kept.push(format!("{key}='{}'", value.replace('\\', "\\\\").replace('\'', "\\'")));
                }
            }
            kept.join(" ")
        };
        Ok((rest, asked))
    }

    /// Takes a setting; false where it is none of TLS.
    fn take(&mut self, key: &str, value: &str) -> Result<bool, Error> {
        let file = || Some(PathBuf::from(value)).filter(|_| !value.is_empty());
        match key {
            "sslmode" => self.mode = mode(value)?,
            "sslrootcert" if value == "system" => {
                let text = "sslrootcert=system is not supported: use a file with the CA certificates";
                return Err(Error::other(text));
            }
            "sslrootcert" => self.root = file(),
            "sslcert" => self.certificate = file(),
            "sslkey" => self.key = file(),
            "channel_binding" if value == "require" => {
                let text = "channel_binding=require is not supported; use sslmode=verify-full, which verifies the \
                            server as well";
                return Err(Error::other(text));
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The client side for one connection.
    pub(super) fn client(&self) -> Result<ClientConfig, Error> {
        let provider = Arc::new(ring::default_provider());
        let verifier = Arc::new(self.verifier(&provider)?);
        let wrong = |error: rustls::Error| Error::other(format!("failed to set up TLS: {error}"));
        let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let builder = builder.map_err(wrong)?.dangerous().with_custom_certificate_verifier(verifier);
        let certificate = self.certificate.clone().or_else(|| default_file("postgresql.crt"));
        let Some(certificate) = certificate else { return Ok(builder.with_no_client_auth()) };
        let key = self.key.clone().or_else(|| default_file("postgresql.key"));
        let key = key.ok_or_else(|| Error::other("sslcert needs sslkey: add the file of its private key"))?;
        let read = PrivateKeyDer::from_pem_file(&key);
        let key =
            read.map_err(|error| Error::other(format!("failed to read the private key {}: {error}", key.display())))?;
        builder.with_client_auth_cert(certificates(&certificate)?, key).map_err(wrong)
    }

    fn verifier(&self, provider: &Arc<CryptoProvider>) -> Result<Verifier, Error> {
        let mut verifier = Verifier {
            level: self.mode,
            roots: RootCertStore::empty(),
            known: Vec::new(),
            provider: Arc::clone(provider),
        };
        let root = self.root.clone().or_else(|| default_file("root.crt"));
        match (root, self.mode >= TlsMode::VerifyCa) {
            (None, true) => {
                let text = "sslmode=verify-ca and verify-full need the CA certificates: set sslrootcert to their file, \
                            or put it at ~/.postgresql/root.crt on the load host";
                return Err(Error::other(text));
            }
            (None, false) => {}
            (Some(root), _) => {
                verifier.known = certificates(&root)?;
                verifier.roots.add_parsable_certificates(verifier.known.iter().cloned());
                // A file of authorities makes `require` prove the certificate, as in libpq.
                if self.mode == TlsMode::Require {
                    verifier.level = TlsMode::VerifyCa;
                }
            }
        }
        Ok(verifier)
    }
}

fn mode(word: &str) -> Result<TlsMode, Error> {
    Ok(match word {
        "disable" => TlsMode::Disable,
        "allow" => TlsMode::Allow,
        "prefer" => TlsMode::Prefer,
        "require" => TlsMode::Require,
        "verify-ca" => TlsMode::VerifyCa,
        "verify-full" => TlsMode::VerifyFull,
        _ => {
            let text = format!(
                "failed to read the PostgreSQL URL: unknown sslmode={word:?}; use disable, allow, prefer, require, \
                 verify-ca or verify-full"
            );
            return Err(Error::other(text));
        }
    })
}

/// Every certificate of a PEM file, of which there is at least one.
fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, Error> {
    let wrong = |error: &dyn std::fmt::Display| {
        Error::other(format!("failed to read certificates of {}: {error}", file.display()))
    };
    let read = CertificateDer::pem_file_iter(file).map_err(|error| wrong(&error))?;
    let found: Vec<_> = read.collect::<Result<_, _>>().map_err(|error| wrong(&error))?;
    if found.is_empty() { Err(wrong(&"the file contains none")) } else { Ok(found) }
}

/// A file in libpq's folder of this user; `None` where there is none.
fn default_file(name: &str) -> Option<PathBuf> {
    let home = std::env::var_os("HOME")?;
    Some(PathBuf::from(home).join(".postgresql").join(name)).filter(|file| file.exists())
}

/// A value of a URL with its percent-encoded bytes decoded.
fn decoded(value: &str) -> String {
    let bytes = value.as_bytes();
    let (mut decoded, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while let Some(byte) = bytes.get(at) {
        let digits = bytes.get(at + 1..at + 3).filter(|_| *byte == b'%');
        let code = digits.and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        decoded.push(code.unwrap_or(*byte));
        at += if code.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

/// Proof of the server's certificate as far as the mode wants it.
#[derive(Debug)]
struct Verifier {
    level: TlsMode,
    roots: RootCertStore,
    /// Certificates of the file itself: a server may have one of them, signed by nobody else.
    known: Vec<CertificateDer<'static>>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        if self.level >= TlsMode::VerifyCa {
            let certificate = ParsedCertificate::try_from(end_entity)?;
            if !self.known.contains(end_entity) {
                let algorithms = self.provider.signature_verification_algorithms.all;
                verify_server_cert_signed_by_trust_anchor(&certificate, &self.roots, intermediates, now, algorithms)?;
            }
            if self.level == TlsMode::VerifyFull {
                verify_server_name(&certificate, server_name)?;
            }
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signature, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signature, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, rest: &str, mode: TlsMode, root: Option<&str>) {
        let (found, asked) = TlsAsked::part(text).expect("it is understood");
        assert_eq!((found.as_str(), asked.mode, asked.root), (rest, mode, root.map(PathBuf::from)));
    }

    #[test]
    fn what_is_asked_of_tls_is_parted_from_what_the_driver_reads() {
        check("postgresql://me@a/x", "postgresql://me@a/x", TlsMode::Disable, None);
        check("postgresql://me@a/x?sslmode=require", "postgresql://me@a/x", TlsMode::Require, None);
        let url = "postgresql://me@a/x?connect_timeout=2&sslmode=verify-full&sslrootcert=%2Fetc%2Fa%20b.crt";
        check(url, "postgresql://me@a/x?connect_timeout=2", TlsMode::VerifyFull, Some("/etc/a b.crt"));
        check("host=a sslmode=allow user='it\\'s me'", "host='a' user='it\\'s me'", TlsMode::Allow, None);
        for wrong in ["host=a sslmode=on", "postgresql://a?sslrootcert=system", "postgresql://a?channel_binding=require"] {
            assert!(TlsAsked::part(wrong).is_err(), "{wrong}");
        }
    }
}
