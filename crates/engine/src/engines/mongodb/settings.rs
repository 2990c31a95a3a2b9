//! Facts about the server and the client path: what was asked, and what is in force as the server or the client says.

use super::admin::{Admin, Reply, SERVER};
use super::bson::{Document, Element};
use super::lean::Greeting;
use super::options::{ClientPath, Options};
use super::url::Url;
use super::write_concern::Acknowledgement;
use crate::contract::{Error, Target};
use proofload_model::facts::{client, engine};
use proofload_model::samples::Fact;
use proofload_model::settings::setting;
use proofload_model::units::{Bytes, duration_text};

/// Server parameters that a study's reader wants to know whether or not they were asked for.
const OBSERVED: &[&str] = &[
    "syncdelay",
    "journalCommitInterval",
    "wiredTigerConcurrentReadTransactions",
    "wiredTigerConcurrentWriteTransactions",
];
/// What the self-check asks for.
#[cfg(feature = "mongodb-driver")]
const ALIKE: &str = "gives the same answers as the official driver";
/// How the answers are compared.
#[cfg(feature = "mongodb-driver")]
const BOTH_PATHS: &str = "the same operations through both client paths";
/// The cache that the server says it has may differ by the rounding of its option, bytes.
const ROUNDING: u64 = 1 << 20;
/// Where the cache's size stands in `serverStatus`.
const CACHE_BYTES: &str = "wiredTiger.cache.maximum bytes configured";

/// All facts.
pub(super) async fn verify(target: &Target) -> Result<Vec<Fact>, Error> {
    let options = Options::read(&target.place.settings)?;
    let mut admin = Admin::connect(target).await?;
    let mut facts = client_facts(&options, target)?;
    facts.extend(membership(&admin.hello().await?, &options));
    facts.extend(product(&admin.run(SERVER, |command| command.int32("buildInfo", 1)).await?)?);
    // A server that only resembles MongoDB may lack it; then its facts are missing, and what was asked does not hold.
    let status = admin.run(SERVER, |command| command.int32("serverStatus", 1)).await.ok();
    let status = status.as_ref().map(Reply::document).transpose()?;
    facts.extend(status.and_then(storage));
    facts.extend(cache(&options, status));
    for name in OBSERVED.iter().filter(|name| options.parameters.iter().all(|(asked, _)| asked != *name)) {
        let found = parameter(&mut admin, name).await.ok();
        facts.extend(found.map(|value| engine::SETTING.of(name).observed(value, "getParameter")));
    }
    for (name, asked) in &options.parameters {
        facts.push(compared(name, asked, parameter(&mut admin, name).await));
    }
    facts.extend(agreement(&options, target).await);
    Ok(facts)
}

/// Compares the answers of the lean path with those of the official driver. There is nothing to compare when the driver
/// is the path.
#[cfg(feature = "mongodb-driver")]
async fn agreement(options: &Options, target: &Target) -> Option<Fact> {
    if options.path == ClientPath::Driver {
        return None;
    }
    Some(match super::self_check(target).await {
        Ok(None) => client::SELF_CHECK.carried_out(ALIKE, BOTH_PATHS),
        Ok(Some(difference)) => client::SELF_CHECK.compared(ALIKE, Some(difference), false, BOTH_PATHS),
        Err(error) => client::SELF_CHECK.observed(format!("not done: {error}"), "the official driver"),
    })
}

/// Compares nothing: the official driver is not built in.
#[cfg(not(feature = "mongodb-driver"))]
async fn agreement(options: &Options, _target: &Target) -> Option<Fact> {
    let text = "not done: built without the official driver";
    (options.path == ClientPath::Lean).then(|| client::SELF_CHECK.observed(text, "proofload"))
}

/// What the client itself does.
fn client_facts(options: &Options, target: &Target) -> Result<Vec<Fact>, Error> {
    let concern = options.write_concern;
    let acknowledged = match concern.acknowledged {
        Acknowledgement::By(members) => members.to_string(),
        Acknowledgement::ByMajority => "majority".to_owned(),
    };
    let path = match options.path {
        ClientPath::Lean => "one connection per session, raw messages",
        ClientPath::Driver => "MongoDB's own Rust driver",
    };
    Ok(vec![
        client::PATH.carried_out(options.path.word(), path),
        client::WRITE_CONCERN.carried_out(acknowledged, "sent with each write"),
        client::JOURNAL.carried_out(concern.journal, "sent with each write"),
        client::TIMEOUT.carried_out(duration_text(options.timeout), "enforced by the client"),
        engine::DATABASE.observed(Url::of(target)?.database, setting::ENGINE_URL),
    ])
}

/// Replica set, router and wire version.
fn membership(greeting: &Greeting, options: &Options) -> Vec<Fact> {
    let kind = match (&greeting.set_name, greeting.router) {
        (_, true) => "router of a sharded cluster".to_owned(),
        (Some(name), false) => format!("replica set {name}"),
        (None, false) => "standalone".to_owned(),
    };
    let is_set = greeting.set_name.is_some() || greeting.router;
    let topology = if options.replica_set {
        engine::TOPOLOGY.compared("replica set", Some(kind), is_set, "hello")
    } else {
        engine::TOPOLOGY.observed(kind, "hello")
    };
    vec![topology, engine::WIRE_VERSION.observed(greeting.wire_versions.1, "hello")]
}

/// Version, and the product where it is not MongoDB itself.
fn product(reply: &Reply) -> Result<Vec<Fact>, Error> {
    let document = reply.document()?;
    let version = document.get("version").and_then(Element::text).unwrap_or("not reported");
    let mut facts = vec![engine::SERVER_VERSION.observed(version, "buildInfo")];
    let names = document.iter().filter_map(|element| Some(std::str::from_utf8(element.ok()?.0).ok()?.to_lowercase()));
    if names.into_iter().any(|name| name.contains("ferretdb")) {
        let source =
            "buildInfo; a proxy on another database, which replaces MongoDB in tests only; its fsync does nothing";
        facts.push(engine::PRODUCT.observed("FerretDB", source));
    }
    Ok(facts)
}

fn storage(status: Document<'_>) -> Option<Fact> {
    let name = status.at("storageEngine.name")?.text()?.to_owned();
    Some(engine::STORAGE_ENGINE.observed(name, "serverStatus"))
}

/// The WiredTiger cache, asked and in force.
fn cache(options: &Options, status: Option<Document<'_>>) -> Option<Fact> {
    let bytes = status.and_then(|status| status.at(CACHE_BYTES)?.integer());
    let found = bytes.and_then(|bytes| u64::try_from(bytes).ok()).map(Bytes);
    let source = if found.is_some() { "serverStatus" } else { "serverStatus has no wiredTiger section" };
    match options.cache_size {
        None => found.map(|size| engine::CACHE_SIZE.observed(size, source)),
        Some(size) => {
            let holds = found.is_some_and(|found| found.0.abs_diff(size.0) <= ROUNDING);
            Some(engine::CACHE_SIZE.compared(size.to_string(), found, holds, source))
        }
    }
}

/// A server parameter as text.
async fn parameter(admin: &mut Admin, name: &str) -> Result<String, Error> {
    let reply = admin
        .run(SERVER, |command| {
            command.int32("getParameter", 1);
            command.int32(name, 1);
        })
        .await?;
    let value = reply.document()?.get(name);
    let missing = || Error::other(format!("the server reports no value for parameter {name}"));
    Ok(match value.ok_or_else(missing)? {
        Element::Text(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Element::Boolean(value) => value.to_string(),
        other => other.number().ok_or_else(missing)?.to_string(),
    })
}

/// The fact of a server parameter that was asked for.
fn compared(name: &str, wanted: &str, found: Result<String, Error>) -> Fact {
    let setting = engine::SETTING.of(name);
    match found {
        Ok(found) => {
            let holds = equal(wanted, &found);
            setting.compared(wanted, Some(found), holds, "getParameter")
        }
        Err(error) => setting.compared(wanted, None::<String>, false, error.to_string()),
    }
}

/// Equal as numbers, or as texts.
fn equal(wanted: &str, found: &str) -> bool {
    match (wanted.trim().parse::<f64>(), found.parse::<f64>()) {
        (Ok(wanted), Ok(found)) => (wanted - found).abs() <= wanted.abs() * 1e-9,
        _ => wanted.trim() == found,
    }
}

#[cfg(test)]
mod tests {
    use super::super::bson::Writer;
    use super::*;

    fn cache_fact(wanted: Option<Bytes>, in_force: Option<u64>) -> Option<Fact> {
        let settings: Vec<_> = wanted.iter().map(|size| ("cache_size".to_owned(), size.to_string())).collect();
        let status = Writer::bytes(|status| {
            if let Some(bytes) = in_force {
                let bytes = i64::try_from(bytes).unwrap();
                status.nested("wiredTiger", |tiger| {
                    tiger.nested("cache", |cache| cache.int64("maximum bytes configured", bytes))
                });
            }
        });
        cache(&Options::read(&settings).unwrap(), Document::whole(&status).ok())
    }

    #[test]
    fn the_cache_in_force_is_compared_with_the_one_asked() {
        let holds = |wanted, found| cache_fact(Some(wanted), found).unwrap().holds;
        assert_eq!(holds(Bytes::mebi(256), Some(256 << 20)), Some(true));
        assert_eq!(holds(Bytes::mebi(256), Some(512 << 20)), Some(false));
        assert_eq!(holds(Bytes::mebi(256), None), Some(false));
        assert_eq!(cache_fact(None, Some(256 << 20)).unwrap().effective.as_deref(), Some("256MiB"));
        assert_eq!(cache_fact(None, None), None);
    }

    #[test]
    fn parameters_are_compared_as_numbers_or_texts() {
        assert!(equal("60", "60") && equal("60.0", "60") && equal("true", "true"));
        assert!(!equal("60", "61") && !equal("true", "false"));
    }
}
