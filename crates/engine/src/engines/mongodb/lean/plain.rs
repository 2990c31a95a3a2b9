//! What a URL must be for the lean path, and why it refuses others. Connects to nothing.

use super::super::url::Url;
use crate::contract::{Error, Target};

/// Options without a meaning for one plain connection.
const HARMLESS: &[&str] = &["directConnection", "appName", "retryWrites", "retryReads"];

/// Host and port of the one server.
pub(super) fn server<'a>(url: &'a Url, target: &Target) -> Result<(&'a str, u16), Error> {
    let stranger = url.options.iter().find(|(name, _)| !HARMLESS.iter().any(|known| known.eq_ignore_ascii_case(name)));
    let authenticates = target.address().is_none() && std::env::var_os("MONGODB_USER").is_some();
    let reason = match (&url.hosts[..], stranger) {
        _ if url.by_name_service => "mongodb+srv looks hosts up in DNS".to_owned(),
        _ if url.user.is_some() => "it names a user, which needs authentication".to_owned(),
        _ if authenticates => "MONGODB_USER is set, which needs authentication".to_owned(),
        ([(host, _)], _) if host.contains('%') => "its host is a socket".to_owned(),
        (_, Some((name, value))) => format!("it has the option {name}={value}"),
        ([(host, port)], None) => return Ok((host, *port)),
        _ => "it names several servers".to_owned(),
    };
    Err(Error::other(format!(
        "the lean path connects to one server without TLS and authentication, but {reason}; set engine.path = \
         \"driver\""
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofload_model::wire::DataLocation;

    fn check(text: &str, part: Option<&str>) {
        let place = DataLocation {
            engine: "mongodb".to_owned(),
            folder: String::new(),
            url: None,
            settings: Vec::new(),
            tier: None,
        };
        let target = Target::new(place, Some(text.to_owned()));
        let found = server(&Url::of(&target).unwrap(), &target).err().map(|error| error.to_string());
        assert_eq!(found.is_some(), part.is_some(), "{text}: {found:?}");
        let fits =
            |text: &str| part.is_some_and(|part| text.contains(part)) && text.contains("engine.path = \"driver\"");
        assert!(found.as_deref().is_none_or(fits), "{found:?}");
    }

    #[test]
    fn what_needs_the_driver_is_refused_and_says_so() {
        check("mongodb://db1/shop?directConnection=true&appname=x", None);
        check("mongodb+srv://cluster.example", Some("in DNS"));
        check("mongodb://db1,db2", Some("several servers"));
        check("mongodb://me@db1", Some("authentication"));
        check("mongodb://db1/?tls=true", Some("tls=true"));
        check("mongodb://db1/?replicaSet=rs0", Some("replicaSet=rs0"));
        check("mongodb://%2Ftmp%2Fmongodb.sock", Some("socket"));
    }
}
