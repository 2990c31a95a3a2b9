//! Addresses of servers: what a `mongodb://` URL says, without a secret. Connects to nothing.
//! Source: MongoDB manual, "Connection Strings".

use super::names::DATABASE;
use crate::contract::{Error, Target};
use crate::engines::wire::host_and_port;

/// What a URL says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Url {
    /// The URL as it was given.
    pub(super) text: String,
    /// Whether the hosts are found by the name service (`mongodb+srv`).
    pub(super) by_name_service: bool,
    /// User; its password is never part of a URL.
    pub(super) user: Option<String>,
    /// Hosts with ports, as they stand there.
    pub(super) hosts: Vec<(String, u16)>,
    /// Database.
    pub(super) database: String,
    /// Options: name and value.
    pub(super) options: Vec<(String, String)>,
}

/// Options that a study says by settings of its own.
const SETTINGS_INSTEAD: &[(&str, &str)] =
    &[("w", "engine.write_concern"), ("journal", "engine.journal"), ("password", "MONGODB_PASSWORD")];
/// The port of a server unless given.
const PORT: u16 = 27017;

impl Url {
    /// The address of a target: of the started instance, else the study's URL.
    pub(super) fn of(target: &Target) -> Result<Self, Error> {
        let text = target.address().or(target.place.url.as_deref());
        Self::parse(text.ok_or_else(|| {
            Error::other("failed to connect to MongoDB: there is neither a started instance nor an engine.url")
        })?)
    }

    /// Reads a URL; refuses one that carries a password, without showing it.
    pub(super) fn parse(text: &str) -> Result<Self, Error> {
        let plain = text.strip_prefix("mongodb://").map(|rest| (rest, false));
        let (rest, by_name_service) =
            plain.or_else(|| Some((text.strip_prefix("mongodb+srv://")?, true))).ok_or_else(|| {
                Error::other("failed to read the MongoDB URL: it must start with mongodb:// or mongodb+srv://")
            })?;
        let (place, options) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, database) = place.split_once('/').unwrap_or((place, ""));
        let (user, hosts) = match authority.rsplit_once('@') {
            Some((user, hosts)) => (Some(without_password(user)?), hosts),
            None => (None, authority),
        };
        let hosts = hosts.split(',').map(host).collect::<Result<Vec<_>, _>>()?;
        let options = options.split('&').filter(|option| !option.is_empty()).map(option).collect::<Result<_, _>>()?;
        let database = if database.is_empty() { DATABASE } else { database };
        check_database(database)?;
        let (text, database) = (text.to_owned(), database.to_owned());
        Ok(Self { text, by_name_service, user, hosts, database, options })
    }

    /// Hosts and database in words, for messages.
    pub(super) fn words(&self) -> String {
        let hosts: Vec<_> = self.hosts.iter().map(|(host, port)| format!("{host} port {port}")).collect();
        format!("{} on {}", self.database, hosts.join(", "))
    }
}

/// The user of `user` or `user:`, never a password.
fn without_password(user: &str) -> Result<String, Error> {
    match user.split_once(':') {
        None | Some((_, "")) => Ok(user.trim_end_matches(':').to_owned()),
        Some(_) => Err(Error::other(
            "the MongoDB URL contains a password, which would be stored with the study; remove it and set MONGODB_USER \
             and MONGODB_PASSWORD on the load host",
        )),
    }
}

fn host(text: &str) -> Result<(String, u16), Error> {
    let found = host_and_port(text, PORT).filter(|(name, port)| !name.is_empty() && *port > 0);
    let wrong = || Error::other(format!("failed to read the MongoDB URL: {text:?} is not a host or host:port"));
    found.map(|(name, port)| (name.to_owned(), port)).ok_or_else(wrong)
}

fn option(text: &str) -> Result<(String, String), Error> {
    let (name, value) = text.split_once('=').unwrap_or((text, ""));
    match SETTINGS_INSTEAD.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)) {
        Some((_, instead)) => {
            Err(Error::other(format!("the MongoDB URL has the option {name}; remove it and use {instead}")))
        }
        None => Ok((name.to_owned(), value.to_owned())),
    }
}

/// Refuses names that no server takes, and the server's own databases.
fn check_database(name: &str) -> Result<(), Error> {
    if name.contains(['/', '\\', '.', ' ', '"', '$', '%', '\0']) || name.len() > 63 {
        return Err(Error::other(format!(
            "the MongoDB URL names the database {name:?}, which is not a valid database name"
        )));
    }
    if ["admin", "local", "config"].contains(&name) {
        return Err(Error::other(format!(
            "the MongoDB URL names the database {name}, which belongs to the server; use another one"
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Result<&str, &str>) {
        match (Url::parse(text), expected) {
            (Ok(url), Ok(words)) => assert_eq!(url.words(), words, "{text}"),
            (Err(error), Err(part)) => {
                let error = error.to_string();
                assert!(error.contains(part) && !error.contains("s3cret"), "{text}: {error}");
            }
            (found, _) => panic!("{text}: {found:?}"),
        }
    }

    #[test]
    fn urls_are_read_or_refused_without_showing_a_password() {
        check("mongodb://db1", Ok("proofload on db1 port 27017"));
        check("mongodb://db1:27018/shop?directConnection=true", Ok("shop on db1 port 27018"));
        check("mongodb://[::1]:27018/", Ok("proofload on ::1 port 27018"));
        check("mongodb://me@db1,db2:1/shop", Ok("shop on db1 port 27017, db2 port 1"));
        check("mongodb+srv://cluster.example/shop", Ok("shop on cluster.example port 27017"));
        check("mongodb://me:s3cret@db1/shop", Err("MONGODB_PASSWORD"));
        check("mongodb://db1/shop?w=0", Err("engine.write_concern"));
        check("mongodb://db1/shop?PASSWORD=s3cret", Err("MONGODB_PASSWORD"));
        check("mongodb://db1/admin", Err("belongs to the server"));
        check("mongodb://db1/a.b", Err("not a valid database name"));
        check("mongodb://db1:x", Err("not a host or host:port"));
        check("mongodb://", Err("host"));
        check("postgresql://db1", Err("mongodb://"));
    }
}
