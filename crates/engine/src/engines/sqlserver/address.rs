//! How a server is reached: a URL as place, account, database and what is encrypted; one URL for each of several hosts.

use super::password;
use crate::contract::{Error, Target};
use crate::engines::wire::{Password, Place, Proof, SocketOptions, TlsClient, decoded};
use crate::engines::wire::{each_host, host_and_port};
use std::path::PathBuf;
use std::time::Duration;

/// The database of a URL that names none.
const DATABASE: &str = "proofload";
/// How a URL begins.
const SCHEME: &str = "sqlserver";
/// Port of a URL without one.
const PORT: u16 = 1433;
/// Port of the browser service. Source: [MC-SQLR] 1.9.
const BROWSER_PORT: u16 = 1434;
/// Bytes that the name of an instance may have. Source: [MC-SQLR] 2.2.3.
const MOST_INSTANCE_BYTES: usize = 32;
/// Name by which the server lists our sessions.
const PROGRAM: &str = "proofload";

/// How much of a connection is encrypted. In the words of Microsoft's drivers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encryption {
    /// Nothing, not even the password, which is only disguised.
    None,
    /// `optional`: the login, unless the server wants all.
    Login,
    /// `mandatory`: all.
    All,
    /// `strict`: all from the first byte on, as TDS 8.0 has it.
    Strict,
}

/// How an account proves itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Authentication {
    /// An account of the server's own, by its password.
    Password,
    /// `entra-token`: an account of Microsoft Entra, by an access token that somebody else fetched.
    Token,
}

/// How a server is reached.
#[derive(Debug, Clone)]
pub(super) struct ServerAddress {
    pub(super) place: Place,
    pub(super) options: SocketOptions,
    pub(super) user: String,
    pub(super) database: String,
    /// The password, or the token.
    pub(super) password: Option<Password>,
    pub(super) authentication: Authentication,
    /// The named instance whose port the browser service tells; `None` where the port is known.
    pub(super) instance: Option<String>,
    pub(super) browser_port: u16,
    /// Whether the login says that it only reads, so that an availability group may send it to a secondary.
    pub(super) read_only: bool,
    /// Whether all addresses of the host's name are dialled at once.
    pub(super) every_address: bool,
    pub(super) encryption: Encryption,
    pub(super) tls: TlsClient,
    /// Name by which the server lists the session.
    pub(super) program: String,
    /// Whether any certificate will do.
    trusts_any: bool,
}

impl ServerAddress {
    /// How the server of a target is reached, with the password of this host.
    pub(super) fn of(target: &Target) -> Result<Self, Error> {
        let text = target.address().or(target.place.url.as_deref()).ok_or_else(|| {
            Error::other(
                "connect to SQL Server: engine.url is not given; Proofload starts no SQL Server, so name a running one",
            )
        })?;
        let mut address = Self::parse(text)?;
        let given = target.endpoints.password().map(|given| Password::new(given.reveal()));
        let authentication = address.authentication;
        address.password = given.map_or_else(|| password::find(authentication), |given| Ok(Some(given)))?;
        let is_given = address.password.as_ref().is_some_and(|password| !password.reveal().is_empty());
        if authentication == Authentication::Token && !is_given {
            return Err(Error::other(format!(
                "connect to {}: authentication=entra-token needs an access token: {}",
                address.in_words(),
                password::TOKEN_REMEDY
            )));
        }
        Ok(address)
    }

    /// How each host of a target is reached: those of its URL, where that names several.
    pub(super) fn of_each_host(target: &Target) -> Result<Vec<Self>, Error> {
        let url = target.place.url.as_deref().filter(|_| target.address().is_none());
        let hosts = url.map(each).filter(|hosts| hosts.len() > 1);
        let Some(hosts) = hosts else { return Ok(vec![Self::of(target)?]) };
        let of_host = |host: String| {
            let mut one = target.clone();
            one.place.url = Some(host);
            Self::of(&one)
        };
        hosts.into_iter().map(of_host).collect()
    }

    /// Reads a URL; refuses what would leak a secret.
    pub(super) fn parse(text: &str) -> Result<Self, Error> {
        let wrong = |what: &str| {
            Error::other(format!(
                "read the SQL Server URL: {what}; it has the form sqlserver://user@host:1433/database?encrypt=mandatory"
            ))
        };
        let (scheme, rest) = text.split_once("://").ok_or_else(|| wrong("it has no ://"))?;
        if scheme != SCHEME {
            return Err(wrong("it does not begin with sqlserver://"));
        }
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, database) = rest.split_once('/').unwrap_or((rest, ""));
        let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
        if user.contains(':') {
            return Err(Error::other(
                "the SQL Server URL carries a password, which would be kept with the study; leave it out and set SQLCMDPASSWORD, or name \
                 a file in SQLCMDPASSWORD_FILE, on the load host",
            ));
        }
        let (host, instance) = host_and_instance(host).map_err(wrong)?;
        let (name, port) = host_and_port(host, PORT).ok_or_else(|| wrong("its port is no number"))?;
        let or = |given: &str, default: &str| if given.is_empty() { default.to_owned() } else { decoded(given) };
        let name = or(name, "localhost");
        let mut address = Self {
            place: Place::Tcp { address: name.clone(), port, name },
            options: SocketOptions::default(),
            user: or(user, DATABASE),
            database: or(database, DATABASE),
            password: None,
            authentication: Authentication::Password,
            instance,
            browser_port: BROWSER_PORT,
            read_only: false,
            every_address: false,
            encryption: Encryption::All,
            tls: TlsClient { proof: Proof::None, root: None, identity: None },
            program: PROGRAM.to_owned(),
            trusts_any: false,
        };
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            address.take(key, &decoded(value))?;
        }
        address.prove()?;
        Ok(address)
    }

    fn take(&mut self, key: &str, value: &str) -> Result<(), Error> {
        match key {
            "encrypt" => self.encryption = encryption(value)?,
            "authentication" => self.authentication = authentication(value)?,
            "intent" => self.read_only = is_read_only(value)?,
            "multi-subnet-failover" => self.every_address = switch(key, value)?,
            "trust-server-certificate" => self.trusts_any = switch(key, value)?,
            "certificate-authority" => self.tls.root = Some(PathBuf::from(value)).filter(|_| !value.is_empty()),
            "host-name-in-certificate" => {
                if let Place::Tcp { name, .. } = &mut self.place {
                    value.clone_into(name);
                }
            }
            "connect-timeout" => {
                let seconds = value
                    .parse()
                    .map_err(|_| Error::other("connect-timeout of the SQL Server URL is no number of seconds"))?;
                self.options.patience = Some(Duration::from_secs(seconds));
            }
            "browser-port" => {
                let told = value.parse::<u16>().ok().filter(|port| *port != 0);
                self.browser_port =
                    told.ok_or_else(|| Error::other("browser-port of the SQL Server URL is no number of a port"))?;
            }
            "instance" => {
                let text = "read the SQL Server URL: the instance stands behind the host: sqlserver://user@host\\instance/database";
                return Err(Error::other(text));
            }
            // The value is not shown: it may be a secret.
            _ => {
                return Err(Error::other(format!(
                    "read the SQL Server URL: {key:?} is not known; there are encrypt, trust-server-certificate, certificate-authority, \
                     host-name-in-certificate, authentication, intent, multi-subnet-failover, browser-port, connect-timeout"
                )));
            }
        }
        Ok(())
    }

    /// Says how far the server is proved: where all is encrypted, by a certificate, unless any will do. A token needs a proved server.
    fn prove(&mut self) -> Result<(), Error> {
        let must = matches!(self.encryption, Encryption::All | Encryption::Strict) && !self.trusts_any;
        if must && self.tls.root.is_none() {
            return Err(Error::other(
                "read the SQL Server URL: encrypt=mandatory and strict prove the server's certificate: name the file of the authority's \
                 certificates as certificate-authority, or set trust-server-certificate=true",
            ));
        }
        self.tls.proof = if self.tls.root.is_some() && !self.trusts_any { Proof::Host } else { Proof::None };
        if self.authentication == Authentication::Token && !self.is_proved_and_encrypted() {
            return Err(Error::other(
                "read the SQL Server URL: whoever reads an access token can use it, so authentication=entra-token needs encrypt=mandatory \
                 or strict, and a proved server: name a certificate-authority, and leave trust-server-certificate out",
            ));
        }
        Ok(())
    }

    /// Whether all is encrypted, for a server whose certificate is proved to be that of its host.
    pub(super) fn is_proved_and_encrypted(&self) -> bool {
        matches!(self.encryption, Encryption::All | Encryption::Strict) && self.tls.proof == Proof::Host
    }

    /// Database and place in words.
    pub(super) fn in_words(&self) -> String {
        match (&self.place, &self.instance) {
            (Place::Tcp { address, .. }, Some(instance)) => format!("{} on {address}\\{instance}", self.database),
            (Place::Tcp { address, port, .. }, None) => format!("{} on {address} port {port}", self.database),
            (Place::Unix(path), _) => format!("{} on {}", self.database, path.display()),
        }
    }
}

/// The host, and the instance that stands behind a backslash; else what is wrong.
fn host_and_instance(host: &str) -> Result<(&str, Option<String>), &'static str> {
    let parts = ["\\", "%5C", "%5c"].into_iter().find_map(|mark| host.split_once(mark));
    let Some((host, instance)) = parts else { return Ok((host, None)) };
    let instance = decoded(instance);
    if instance.contains(':') || host.trim_end_matches(|letter: char| letter.is_ascii_digit()).ends_with(':') {
        return Err("it names an instance and a port: leave one of them out");
    }
    let is_name = |letter: char| letter.is_ascii_graphic() && !matches!(letter, ';' | '\\');
    if instance.is_empty() || instance.len() > MOST_INSTANCE_BYTES || !instance.chars().all(is_name) {
        return Err(
            "its instance is no name of 1 to 32 letters, digits and signs of ASCII; name the instance's port instead",
        );
    }
    Ok((host, Some(instance)))
}

fn authentication(word: &str) -> Result<Authentication, Error> {
    match word.to_ascii_lowercase().as_str() {
        "password" => Ok(Authentication::Password),
        "entra-token" => Ok(Authentication::Token),
        // The word is not shown: it may be the token.
        _ => Err(Error::other("read the SQL Server URL: authentication is password or entra-token")),
    }
}

fn is_read_only(word: &str) -> Result<bool, Error> {
    match word.to_ascii_lowercase().as_str() {
        "readonly" => Ok(true),
        "readwrite" => Ok(false),
        _ => Err(Error::other("read the SQL Server URL: intent is readonly or readwrite")),
    }
}

fn encryption(word: &str) -> Result<Encryption, Error> {
    Ok(match word.to_ascii_lowercase().as_str() {
        "none" => Encryption::None,
        "optional" => Encryption::Login,
        "mandatory" => Encryption::All,
        "strict" => Encryption::Strict,
        _ => {
            let text = format!(
                "read the SQL Server URL: encrypt={word:?} is not known; there are none, optional, mandatory, strict"
            );
            return Err(Error::other(text));
        }
    })
}

fn switch(key: &str, word: &str) -> Result<bool, Error> {
    word.parse().map_err(|_| Error::other(format!("read the SQL Server URL: {key} is true or false")))
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
        check("sqlserver://me@db1:1500/shop?encrypt=optional", Ok("me: shop on db1 port 1500"));
        check(
            "sqlserver://db1?encrypt=strict&certificate-authority=/ca.pem",
            Ok("proofload: proofload on db1 port 1433"),
        );
        check("sqlserver://me@[::1]:7/x?trust-server-certificate=true&connect-timeout=2", Ok("me: x on ::1 port 7"));
        check("sqlserver://me@db1/shop", Err("trust-server-certificate=true"));
        check("sqlserver://me:s3cret@db1/shop", Err("SQLCMDPASSWORD"));
        check("sqlserver://me@db1/shop?password=s3cret", Err("\"password\" is not known"));
        check("sqlserver://me@db1/shop?encrypt=yes", Err("optional, mandatory"));
        check("mariadb://me@db1/shop", Err("sqlserver://user@host"));
        check("sqlserver://me@db1:x/shop", Err("its port is no number"));
    }

    #[test]
    fn an_instance_stands_behind_the_host() {
        let any = "trust-server-certificate=true";
        check(&format!(r"sqlserver://me@db1\SALES/shop?{any}"), Ok(r"me: shop on db1\SALES"));
        check(&format!("sqlserver://me@db1%5cSQL$1/shop?{any}"), Ok(r"me: shop on db1\SQL$1"));
        check(&format!(r"sqlserver://[::1]\SALES?{any}"), Ok(r"proofload: proofload on ::1\SALES"));
        check(&format!(r"sqlserver://me@db1:1433\SALES/shop?{any}"), Err("an instance and a port"));
        check(&format!(r"sqlserver://me@db1\SALES:1433/shop?{any}"), Err("an instance and a port"));
        check(&format!(r"sqlserver://me@db1\/shop?{any}"), Err("its instance is no name"));
        check(&format!(r"sqlserver://me@db1\A;B/shop?{any}"), Err("its instance is no name"));
        check(&format!(r"sqlserver://me@db1\{}/shop?{any}", "x".repeat(33)), Err("its instance is no name"));
        check(
            &format!("sqlserver://me@db1/shop?{any}&instance=SALES"),
            Err(r"sqlserver://user@host\instance/database"),
        );
        check(&format!("sqlserver://me@db1/shop?{any}&browser-port=0"), Err("browser-port"));
        assert_eq!(
            each(&format!(r"sqlserver://me@a\X,b\Y/x?{any}")),
            [format!(r"sqlserver://me@a\X/x?{any}"), format!(r"sqlserver://me@b\Y/x?{any}")]
        );
    }

    #[test]
    fn a_token_goes_to_a_proved_server_alone() {
        let token = "sqlserver://db1/shop?authentication=entra-token";
        check(&format!("{token}&certificate-authority=/ca.pem"), Ok("proofload: shop on db1 port 1433"));
        check(&format!("{token}&encrypt=strict&certificate-authority=/ca.pem"), Ok("proofload: shop on db1 port 1433"));
        for weak in [
            "trust-server-certificate=true",
            "certificate-authority=/ca.pem&trust-server-certificate=true",
            "certificate-authority=/ca.pem&encrypt=optional",
            "encrypt=none",
        ] {
            check(&format!("{token}&{weak}"), Err("a proved server"));
        }
        check("sqlserver://db1/shop?authentication=s3cret", Err("password or entra-token"));
    }

    #[test]
    fn options_of_groups_are_read() {
        let read = |query: &str| {
            let url = format!("sqlserver://db1?trust-server-certificate=true&{query}");
            ServerAddress::parse(&url).map(|address| (address.read_only, address.every_address))
        };
        assert_eq!(read("intent=readonly").expect("it is understood"), (true, false));
        assert_eq!(read("intent=ReadWrite&multi-subnet-failover=true").expect("it is understood"), (false, true));
        assert!(read("intent=maybe").expect_err("no such intent").to_string().contains("readonly or readwrite"));
        let error = read("multi-subnet-failover=yes").expect_err("no such word").to_string();
        assert!(error.contains("multi-subnet-failover is true or false"), "{error}");
    }

    #[test]
    fn a_certificate_is_proved_where_all_is_encrypted() {
        let proof = |query: &str| {
            ServerAddress::parse(&format!("sqlserver://db1?{query}")).expect("it is understood").tls.proof
        };
        assert_eq!(proof("certificate-authority=/ca.pem"), Proof::Host);
        assert_eq!(proof("encrypt=optional&certificate-authority=/ca.pem"), Proof::Host);
        assert_eq!(proof("encrypt=optional"), Proof::None);
        assert_eq!(proof("certificate-authority=/ca.pem&trust-server-certificate=true"), Proof::None);
    }

    #[test]
    fn a_url_of_several_hosts_is_one_for_each() {
        assert_eq!(
            each("sqlserver://me@a:1,b/x?encrypt=none"),
            ["sqlserver://me@a:1/x?encrypt=none", "sqlserver://me@b/x?encrypt=none"]
        );
        for text in ["sqlserver://me@a/x", "sqlserver://a:x,b:y/z", "nonsense"] {
            assert_eq!(each(text), [text]);
        }
    }
}
