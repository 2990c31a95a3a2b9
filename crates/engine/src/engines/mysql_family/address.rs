//! How a server is reached: an address or URL as place, account, database and what is asked of TLS; one URL for each of several hosts.

use super::flavour::Flavour;
use super::password;
use crate::contract::{Error, Target};
use crate::engines::wire::{Password, Place, Proof, SocketOptions, TlsClient, decoded};
use crate::engines::wire::{each_host, host_and_port};
use rustls::ClientConfig;
use std::path::PathBuf;
use std::time::Duration;

/// The database of a local instance and of a URL that names none.
pub(super) const DATABASE: &str = "proofload";
/// Port of a URL without one.
const PORT: u16 = 3306;

/// Whether a connection is encrypted, and how far the server is proved. In the words of MySQL's `ssl-mode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encryption {
    /// Never.
    Disabled,
    /// Where the server can.
    Preferred,
    /// Always, by any certificate.
    Required,
    /// Always, by a certificate that a known authority signed.
    VerifyAuthority,
    /// The same, made out for this host.
    VerifyIdentity,
}

/// What is asked of TLS.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TlsAsked {
    /// Whether, and how far.
    pub(super) mode: Encryption,
    authorities: Option<PathBuf>,
    certificate: Option<PathBuf>,
    key: Option<PathBuf>,
}

impl TlsAsked {
    /// The client side for one connection.
    pub(super) fn client(&self) -> Result<ClientConfig, Error> {
        let proof = match self.mode {
            Encryption::VerifyIdentity => Proof::Host,
            Encryption::VerifyAuthority => Proof::Authority,
            _ => Proof::None,
        };
        if proof > Proof::None && self.authorities.is_none() {
            let text = "ssl-mode=verify_ca and verify_identity need the certificates of the authorities: name their file as ssl-ca";
            return Err(Error::other(text));
        }
        let identity = match (&self.certificate, &self.key) {
            (Some(_), None) => {
                return Err(Error::other("ssl-cert is given without ssl-key: name the file of its private key"));
            }
            (certificate, key) => certificate.clone().zip(key.clone()),
        };
        TlsClient { proof, root: self.authorities.clone(), identity }.config()
    }
}

/// How a server is reached.
#[derive(Debug, Clone)]
pub(super) struct ServerAddress {
    /// What server it is, by how the URL begins.
    pub(super) flavour: &'static Flavour,
    pub(super) place: Place,
    pub(super) options: SocketOptions,
    pub(super) user: String,
    pub(super) database: String,
    pub(super) password: Option<Password>,
    pub(super) tls: TlsAsked,
    /// Whether the instance must be one that takes writes.
    pub(super) must_take_writes: bool,
}

impl ServerAddress {
    /// How the server of a target is reached, with the password of this host.
    pub(super) fn of(target: &Target) -> Result<Self, Error> {
        let text = target.address().or(target.place.url.as_deref()).ok_or_else(|| {
            Error::other(format!(
                "connect to {}: neither a started instance nor engine.url is given",
                target.place.engine
            ))
        })?;
        let mut address = Self::parse(text)?;
        if let Some(asked) = Flavour::named(&target.place.engine).filter(|asked| asked.name != address.flavour.name) {
            let (product, engine) = (address.flavour.product, address.flavour.name);
            let (asked, scheme) = (asked.product, asked.name);
            return Err(Error::other(format!(
                "a URL that begins with {engine}:// is of {product}, and the engine is {asked}: choose engine.kind = \"{engine}\", or \
                 begin the URL with {scheme}://"
            )));
        }
        address.must_take_writes = target.endpoints.role_moves();
        // An instance of ours has no password at its own socket.
        if matches!(address.place, Place::Tcp { .. }) || !target.is_ours() {
            let given = target.endpoints.password().map(|given| Password::new(given.reveal()));
            address.password = given.map_or_else(|| password::find(address.flavour), |given| Ok(Some(given)))?;
        }
        Ok(address)
    }

    /// Reads an address or URL; refuses what would leak a secret.
    pub(super) fn parse(text: &str) -> Result<Self, Error> {
        let known = text.split_once("://").and_then(|(scheme, rest)| Some((Flavour::named(scheme)?, rest)));
        let Some((flavour, rest)) = known else {
            return Err(Error::other(
                "read a URL: it has neither the form mariadb://user@host:3306/database?ssl-mode=required nor mysql://user@host:3306/database, \
                 by the server that is there",
            ));
        };
        let (scheme, product) = (flavour.name, flavour.product);
        let wrong = |what: &str| {
            Error::other(format!(
                "read the {product} URL: {what}; it has the form {scheme}://user@host:3306/database?ssl-mode=required"
            ))
        };
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, database) = rest.split_once('/').unwrap_or((rest, ""));
        let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
        if user.contains(':') {
            return Err(Error::other(format!(
                "the {product} URL carries a password, which would be kept with the study; leave it out and set MYSQL_PWD or write \
                 ~/.my.cnf on the load host"
            )));
        }
        let (name, port) = host_and_port(host, PORT).ok_or_else(|| wrong("its port is no number"))?;
        let or = |given: &str, default: &str| if given.is_empty() { default.to_owned() } else { decoded(given) };
        let name = or(name, "localhost");
        let tls = TlsAsked { mode: Encryption::Disabled, authorities: None, certificate: None, key: None };
        let mut address = Self {
            flavour,
            place: Place::Tcp { address: name.clone(), port, name },
            options: SocketOptions::default(),
            user: or(user, DATABASE),
            database: or(database, DATABASE),
            password: None,
            tls,
            must_take_writes: false,
        };
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            address.take(key, &decoded(value))?;
        }
        Ok(address)
    }

    fn take(&mut self, key: &str, value: &str) -> Result<(), Error> {
        let file = || Some(PathBuf::from(value)).filter(|_| !value.is_empty());
        match key {
            "socket" => self.place = Place::Unix(PathBuf::from(value)),
            "ssl-mode" => self.tls.mode = mode(value)?,
            "ssl-ca" => self.tls.authorities = file(),
            "ssl-cert" => self.tls.certificate = file(),
            "ssl-key" => self.tls.key = file(),
            "connect-timeout" => {
                let seconds =
                    value.parse().map_err(|_| Error::other("connect-timeout of the URL is no number of seconds"))?;
                self.options.patience = Some(Duration::from_secs(seconds));
            }
            // The value is not shown: it may be a secret.
            _ => {
                return Err(Error::other(format!(
                    "read the URL: {key:?} is not known; there are socket, ssl-mode, ssl-ca, ssl-cert, ssl-key, connect-timeout"
                )));
            }
        }
        Ok(())
    }

    /// Database and place in words.
    pub(super) fn in_words(&self) -> String {
        match &self.place {
            Place::Tcp { address, port, .. } => format!("{} on {address} port {port}", self.database),
            Place::Unix(path) => format!("{} on {}", self.database, path.display()),
        }
    }
}

/// Port in an address or URL, also where a socket goes before it.
pub(super) fn port_of(text: &str) -> Option<u16> {
    let authority = text.split_once("://")?.1.split(['/', '?']).next()?;
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    host_and_port(host, PORT).map(|(_, port)| port)
}

fn mode(word: &str) -> Result<Encryption, Error> {
    Ok(match word.to_ascii_lowercase().replace('-', "_").as_str() {
        "disabled" => Encryption::Disabled,
        "preferred" => Encryption::Preferred,
        "required" => Encryption::Required,
        "verify_ca" => Encryption::VerifyAuthority,
        "verify_identity" => Encryption::VerifyIdentity,
        _ => {
            let text = format!(
                "read the URL: ssl-mode={word:?} is not known; there are disabled, preferred, required, verify_ca, verify_identity"
            );
            return Err(Error::other(text));
        }
    })
}

/// The URLs of each host; the whole text alone where it names one host or has another form.
pub(super) fn each(text: &str) -> Vec<String> {
    each_host(text, |part| ServerAddress::parse(part).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(url: &str, expected: Result<&str, &str>) {
        match (ServerAddress::parse(url), expected) {
            (Ok(address), Ok(words)) => assert_eq!(format!("{}: {}", address.user, address.in_words()), words),
            (Err(error), Err(part)) => {
                let text = error.to_string();
                assert!(text.contains(part) && !text.contains("s3cret"), "{text}");
            }
            (found, _) => panic!("{url}: {:?}", found.map(|address| address.in_words())),
        }
    }

    #[test]
    fn urls_are_completed_or_refused_without_showing_a_password() {
        check("mariadb://me@db1:3307/shop", Ok("me: shop on db1 port 3307"));
        check("mysql://db1", Ok("proofload: proofload on db1 port 3306"));
        check("mariadb://me@[::1]:7/x?connect-timeout=2&ssl-mode=VERIFY_IDENTITY", Ok("me: x on ::1 port 7"));
        check("mariadb://root@localhost/x?socket=%2Ftmp%2Fa%20b.sock", Ok("root: x on /tmp/a b.sock"));
        check("mariadb://me:s3cret@db1/shop", Err("MYSQL_PWD"));
        check("mariadb://me@db1/shop?password=s3cret", Err("\"password\" is not known"));
        check("mariadb://me@db1/shop?ssl-mode=on", Err("verify_identity"));
        check("postgresql://me@db1/shop", Err("mariadb://user@host"));
        check("mariadb://me@db1:x/shop", Err("its port is no number"));
    }

    #[test]
    fn a_port_is_found_beside_a_socket() {
        assert_eq!(port_of("mariadb://root@localhost:33061/x?socket=%2Ftmp%2Fs"), Some(33061));
        assert_eq!(
            [port_of("mariadb://db1"), port_of("mariadb://db1:x/shop"), port_of("db1")],
            [Some(3306), None, None]
        );
    }

    #[test]
    fn a_url_of_several_hosts_is_one_for_each() {
        assert_eq!(
            each("mariadb://me@a:1,b/x?ssl-mode=required"),
            ["mariadb://me@a:1/x?ssl-mode=required", "mariadb://me@b/x?ssl-mode=required"]
        );
        for text in ["mariadb://me@a/x", "mariadb://a:x,b:y/z", "nonsense"] {
            assert_eq!(each(text), [text]);
        }
    }
}
