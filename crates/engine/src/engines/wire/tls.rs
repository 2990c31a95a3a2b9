//! The client side of TLS by rustls: how far a server is proved, and by what. Knows no engine's words; sends nothing itself.

use crate::contract::Error;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme, SupportedProtocolVersion};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How far a server is proved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::engines) enum Proof {
    /// Any certificate suffices.
    None,
    /// A certificate that a known authority signed.
    Authority,
    /// The same, made out for this host.
    Host,
}

/// What a client asks of TLS.
#[derive(Debug, Clone)]
pub(in crate::engines) struct TlsClient {
    /// How far the server is proved.
    pub(in crate::engines) proof: Proof,
    /// File with the certificates of the authorities.
    pub(in crate::engines) root: Option<PathBuf>,
    /// Files of our own certificate and of its private key.
    pub(in crate::engines) identity: Option<(PathBuf, PathBuf)>,
}

impl TlsClient {
    /// The client side for one connection.
    pub(in crate::engines) fn config(&self) -> Result<ClientConfig, Error> {
        self.config_of(rustls::DEFAULT_VERSIONS)
    }

    /// The same, of these versions alone.
    pub(in crate::engines) fn config_of(
        &self,
        versions: &[&'static SupportedProtocolVersion],
    ) -> Result<ClientConfig, Error> {
        let provider = Arc::new(ring::default_provider());
        let verifier = Arc::new(self.verifier(&provider)?);
        let wrong = |error: rustls::Error| Error::other(format!("failed to set up TLS: {error}"));
        let builder = ClientConfig::builder_with_provider(provider).with_protocol_versions(versions);
        let builder = builder.map_err(wrong)?.dangerous().with_custom_certificate_verifier(verifier);
        let Some((certificate, key)) = &self.identity else { return Ok(builder.with_no_client_auth()) };
        let read = PrivateKeyDer::from_pem_file(key);
        let key =
            read.map_err(|error| Error::other(format!("failed to read the private key {}: {error}", key.display())))?;
        builder.with_client_auth_cert(certificates(certificate)?, key).map_err(wrong)
    }

    fn verifier(&self, provider: &Arc<CryptoProvider>) -> Result<Verifier, Error> {
        let (roots, known) = (RootCertStore::empty(), Vec::new());
        let mut verifier = Verifier { proof: self.proof, roots, known, provider: Arc::clone(provider) };
        if let Some(root) = &self.root {
            verifier.known = certificates(root)?;
            verifier.roots.add_parsable_certificates(verifier.known.iter().cloned());
        }
        Ok(verifier)
    }
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

/// A value of a URL with its percent-encoded bytes decoded.
pub(in crate::engines) fn decoded(value: &str) -> String {
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

/// Proof of the server's certificate as far as it is wanted.
#[derive(Debug)]
struct Verifier {
    proof: Proof,
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
        if self.proof >= Proof::Authority {
            let certificate = ParsedCertificate::try_from(end_entity)?;
            if !self.known.contains(end_entity) {
                let algorithms = self.provider.signature_verification_algorithms.all;
                verify_server_cert_signed_by_trust_anchor(&certificate, &self.roots, intermediates, now, algorithms)?;
            }
            if self.proof == Proof::Host {
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
