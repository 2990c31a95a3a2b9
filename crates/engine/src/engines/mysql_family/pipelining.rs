//! Whether sessions send statements together: as `engine.pipelining` says, or as a server by URL was found to take them.

use super::address::ServerAddress;
use super::session::connect;
use super::wire::{PATIENCE, takes_pipelining};
use crate::contract::{Error, Target};
use proofload_model::facts::engine;
use proofload_model::samples::Fact;
use proofload_model::settings::{Kind, Scope, SettingSpec};
use proofload_model::units::duration_text;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// Name of the setting in a target. It is none of the server's.
pub(super) const NAME: &str = "pipelining";
/// Its words.
const AUTO: &str = "auto";
const ON: &str = "on";
const OFF: &str = "off";

/// What servers were found to do, by URL. Kept, so that a session that connects again in the middle of a run, if only to another host of the
/// URL, sends as it did before.
static FOUND: Mutex<BTreeMap<String, bool>> = Mutex::new(BTreeMap::new());

/// The setting of an engine of the family.
pub(in crate::engines) const fn setting(engine: &'static str) -> SettingSpec {
    SettingSpec::new(
        "engine.pipelining",
        Kind::OneOf(&[AUTO, ON, OFF]),
        AUTO,
        "Whether a session sends several statements before it waits for their answers: `on`, always; `off`, one at a time, for a proxy such \
         as ProxySQL or Aurora of the 5.7 line; `auto`, one at a time on a server by URL that does not answer three statements sent together \
         within 2 s. One at a time takes a round trip for each statement.",
    )
    .only(Scope::Engine(engine))
}

/// The word for a target.
fn asked(target: &Target) -> &str {
    let last = target.place.settings.iter().rev().find(|(name, _)| name == NAME);
    last.map_or(AUTO, |(_, value)| value.as_str())
}

/// Tells whether a session of a target sends statements together.
pub(super) async fn of_session(target: &Target, address: &ServerAddress) -> Result<bool, Error> {
    match asked(target) {
        OFF => Ok(false),
        ON => Ok(true),
        _ => match target.place.url.as_deref() {
            None => Ok(true),
            Some(url) => match found(url) {
                Some(found) => Ok(found),
                None => tried(url, address).await,
            },
        },
    }
}

/// A fact of how sessions of a target send statements, and why. A server by URL is tried; an error where it is to take what it does not.
pub(super) async fn verify(target: &Target, address: &ServerAddress) -> Result<Fact, Error> {
    let fact = |word: &str, source: &str| engine::SETTING.of(NAME).observed(word, source);
    let asked = asked(target);
    if asked == OFF {
        return Ok(fact(OFF, "engine.pipelining"));
    }
    let Some(url) = target.place.url.as_deref() else {
        return Ok(fact(
            ON,
            if asked == ON { "engine.pipelining" } else { "an instance that Proofload started takes them" },
        ));
    };
    let within = duration_text(PATIENCE);
    match tried(url, address).await? {
        true => Ok(fact(ON, "three statements sent together were answered")),
        false if asked == ON => Err(Error::other(format!(
            "try {}: not all of three statements sent together were answered within {within}, and engine.pipelining = \"on\" sends every \
             flight so; a proxy such as ProxySQL, or Aurora of the 5.7 line, does not take it: set engine.pipelining = \"off\"",
            address.in_words()
        ))),
        false => Ok(fact(
            OFF,
            &format!(
                "not all of three statements sent together were answered within {within}: each waits for the one before"
            ),
        )),
    }
}

/// What was found before.
fn found(url: &str) -> Option<bool> {
    FOUND.lock().unwrap_or_else(PoisonError::into_inner).get(url).copied()
}

/// Tries a server over a connection of its own, and keeps what was found.
async fn tried(url: &str, address: &ServerAddress) -> Result<bool, Error> {
    let mut connection = connect(address, Some(&address.database)).await?;
    let takes = takes_pipelining(&mut connection)
        .await
        .map_err(|error| error.context(format!("try {} (engine.pipelining = \"off\" does not)", address.in_words())))?;
    FOUND.lock().unwrap_or_else(PoisonError::into_inner).insert(url.to_owned(), takes);
    Ok(takes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofload_model::wire::DataLocation;

    fn target(word: Option<&str>, url: Option<&str>) -> Target {
        let settings = word.map(|word| (NAME.to_owned(), word.to_owned())).into_iter().collect();
        let (engine, url) = ("mysql".to_owned(), url.map(str::to_owned));
        Target::new(DataLocation { engine, folder: String::new(), url, settings, tier: None }, None)
    }

    /// Words of the study are taken without a server; what was found of one is kept for the sessions that come later.
    #[test]
    fn sessions_send_as_the_study_says_or_as_the_server_was_found_to_take_it() {
        let url = "mysql://me@nowhere.invalid:3333/kept";
        let address = ServerAddress::parse(url).expect("it is one");
        FOUND.lock().expect("nobody panicked").insert(url.to_owned(), false);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let of = |word: Option<&str>, url: Option<&str>| {
            runtime.block_on(of_session(&target(word, url), &address)).expect("nobody has to be asked")
        };
        assert!(of(Some(ON), Some(url)) && !of(Some(OFF), Some(url)) && !of(Some(OFF), None));
        assert!(!of(Some(AUTO), Some(url)) && !of(None, Some(url)), "found before");
        assert!(of(Some(AUTO), None) && of(None, None), "an instance of ours");
        let said = |word: &str| {
            let fact = runtime.block_on(verify(&target(Some(word), None), &address)).expect("nobody has to be asked");
            fact.effective
        };
        assert_eq!([said(OFF).as_deref(), said(ON).as_deref(), said(AUTO).as_deref()], [Some(OFF), Some(ON), Some(ON)]);
    }
}
