//! What a URL asks of TLS, in libpq's words, and the client side of it by rustls. Sends nothing itself. Source: PostgreSQL manual, "SSL Support".

use super::hosts::words;
use crate::contract::Error;
use crate::engines::wire::{Proof, TlsClient, decoded};
use rustls::ClientConfig;
use std::path::PathBuf;

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
    /// Whether the mode was given.
    has_mode: bool,
    /// Whether the authorities are those of the system.
    is_system: bool,
    root: Option<PathBuf>,
    certificate: Option<PathBuf>,
    key: Option<PathBuf>,
}

impl TlsAsked {
    /// Parts a URL or a list of words into what the driver reads and what is asked of TLS. Without `sslmode` nothing is encrypted: a study
    /// measures what it names.
    pub(super) fn part(text: &str) -> Result<(String, Self), Error> {
        let mut asked = Self {
            mode: TlsMode::Disable,
            has_mode: false,
            is_system: false,
            root: None,
            certificate: None,
            key: None,
        };
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
        asked.expect_strength()?;
        Ok((rest, asked))
    }

    /// The system's authorities sign for everybody, so that only the host's name proves a server; as in libpq.
    fn expect_strength(&mut self) -> Result<(), Error> {
        if self.is_system && !self.has_mode {
            self.mode = TlsMode::VerifyFull;
        }
        if self.is_system && self.mode != TlsMode::VerifyFull {
            return Err(Error::other("sslrootcert=system needs sslmode=verify-full"));
        }
        Ok(())
    }

    /// Takes a setting; false where it is none of TLS.
    fn take(&mut self, key: &str, value: &str) -> Result<bool, Error> {
        let file = || Some(PathBuf::from(value)).filter(|_| !value.is_empty());
        match key {
            "sslmode" => (self.mode, self.has_mode) = (mode(value)?, true),
            "sslrootcert" if value == "system" => (self.root, self.is_system) = (Some(system_authorities()?), true),
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
        let root = self.root.clone().or_else(|| default_file("root.crt"));
        let proof = match self.mode {
            TlsMode::VerifyFull => Proof::Host,
            TlsMode::VerifyCa => Proof::Authority,
            // A file of authorities makes `require` prove the certificate, as in libpq.
            TlsMode::Require if root.is_some() => Proof::Authority,
            _ => Proof::None,
        };
        if root.is_none() && proof > Proof::None {
            let text = "sslmode=verify-ca and verify-full need the CA certificates: set sslrootcert to their file or to system, \
                        or put it at ~/.postgresql/root.crt on the load host";
            return Err(Error::other(text));
        }
        let certificate = self.certificate.clone().or_else(|| default_file("postgresql.crt"));
        let key = self.key.clone().or_else(|| default_file("postgresql.key"));
        let identity = match (certificate, key) {
            (Some(_), None) => {
                return Err(Error::other("sslcert needs sslkey: add the file of its private key"));
            }
            (certificate, key) => certificate.zip(key),
        };
        TlsClient { proof, root, identity }.config()
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

/// Files in which distributions keep the authorities that the system trusts, after `SSL_CERT_FILE`.
const SYSTEM_AUTHORITIES: &[&str] = &[
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// The file of the authorities that the system trusts.
fn system_authorities() -> Result<PathBuf, Error> {
    let named = std::env::var_os("SSL_CERT_FILE").map(PathBuf::from);
    let mut known = named.into_iter().chain(SYSTEM_AUTHORITIES.iter().map(PathBuf::from));
    known.find(|file| file.exists()).ok_or_else(|| {
        Error::other(
            "sslrootcert=system needs the system's CA certificates, and no file of them was found on the load host: install \
             ca-certificates, or set SSL_CERT_FILE",
        )
    })
}

/// A file in libpq's folder of this user; `None` where there is none.
fn default_file(name: &str) -> Option<PathBuf> {
    let home = std::env::var_os("HOME")?;
    Some(PathBuf::from(home).join(".postgresql").join(name)).filter(|file| file.exists())
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
        if let Ok(file) = system_authorities() {
            check("postgresql://a?sslrootcert=system", "postgresql://a", TlsMode::VerifyFull, file.to_str());
        }
        for wrong in [
            "host=a sslmode=on",
            "postgresql://a?sslrootcert=system&sslmode=require",
            "postgresql://a?channel_binding=require",
        ] {
            assert!(TlsAsked::part(wrong).is_err(), "{wrong}");
        }
    }
}
