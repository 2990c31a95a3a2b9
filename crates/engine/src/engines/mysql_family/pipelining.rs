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
/// Held while a server is tried: sessions that connect meanwhile wait, and send as it was found. They live on several runtimes.
static TRIAL: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

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

/// Tells whether a session of a target sends statements together; an error where a server by URL is to take what it does not.
pub(super) async fn of_session(target: &Target, address: &ServerAddress) -> Result<bool, Error> {
    let asked = asked(target);
    if asked == OFF {
        return Ok(false);
    }
    let Some(url) = target.place.url.as_deref() else { return Ok(true) };
    let takes = tried(url, address).await?;
    if asked == ON && !takes {
        return Err(refusal(address));
    }
    Ok(takes)
}

/// A fact of how sessions of a target send statements, and why. A server by URL is tried, unless it was before; an error where it is to take
/// what it does not.
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
    match tried(url, address).await? {
        true => Ok(fact(ON, "three statements sent together were answered")),
        false if asked == ON => Err(refusal(address)),
        false => Ok(fact(
            OFF,
            &format!(
                "not all of three statements sent together were answered within {}: each waits for the one before",
                duration_text(PATIENCE)
            ),
        )),
    }
}

/// The error of a server that does not take what the study says.
fn refusal(address: &ServerAddress) -> Error {
    Error::other(format!(
        "try {}: not all of three statements sent together were answered within {}, and engine.pipelining = \"on\" sends every flight so; a \
         proxy such as ProxySQL, or Aurora of the 5.7 line, does not take it: set engine.pipelining = \"off\"",
        address.in_words(),
        duration_text(PATIENCE)
    ))
}

/// What was found before.
fn found(url: &str) -> Option<bool> {
    FOUND.lock().unwrap_or_else(PoisonError::into_inner).get(url).copied()
}

/// What a server was found to do. Where nobody has tried it, it is tried over a connection of its own, once for all sessions.
async fn tried(url: &str, address: &ServerAddress) -> Result<bool, Error> {
    let _trial = TRIAL.lock().await;
    if let Some(found) = found(url) {
        return Ok(found);
    }
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
    use std::future::poll_fn;
    use std::pin::pin;
    use std::task::Poll;

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
        let takes = "mysql://me@nowhere.invalid:3333/takes";
        FOUND.lock().expect("nobody panicked").extend([(url.to_owned(), false), (takes.to_owned(), true)]);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let of = |word: Option<&str>, url: Option<&str>| {
            runtime.block_on(of_session(&target(word, url), &address)).expect("nobody has to be asked")
        };
        assert!(of(Some(ON), Some(takes)) && !of(Some(OFF), Some(url)) && !of(Some(OFF), None));
        assert!(!of(Some(AUTO), Some(url)) && !of(None, Some(url)), "found before");
        assert!(of(Some(AUTO), None) && of(None, None) && of(Some(ON), None), "an instance of ours");
        let on = target(Some(ON), Some(url));
        let refused = runtime.block_on(of_session(&on, &address)).expect_err("it would wait for ever").to_string();
        assert!(refused.contains("set engine.pipelining = \"off\""), "{refused}");
        assert_eq!(runtime.block_on(verify(&on, &address)).expect_err("nor is it a fact").to_string(), refused);
        let said = |word: &str| {
            let fact = runtime.block_on(verify(&target(Some(word), None), &address)).expect("nobody has to be asked");
            fact.effective
        };
        assert_eq!([said(OFF).as_deref(), said(ON).as_deref(), said(AUTO).as_deref()], [Some(OFF), Some(ON), Some(ON)]);
    }

    /// A session that connects during a trial makes none of its own.
    #[test]
    fn a_server_is_tried_once_for_all_sessions() {
        let url = "mysql://me@nowhere.invalid:3333/once";
        let address = ServerAddress::parse(url).expect("it is one");
        let target = target(None, Some(url));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let trial = TRIAL.lock().await;
            let mut session = pin!(of_session(&target, &address));
            let waits = poll_fn(|context| Poll::Ready(session.as_mut().poll(context).is_pending())).await;
            assert!(waits, "for the trial that is under way");
            FOUND.lock().expect("nobody panicked").insert(url.to_owned(), false);
            drop(trial);
            assert!(!session.await.expect("nobody has to be asked"));
            let fact = verify(&target, &address).await.expect("nobody has to be asked");
            assert_eq!(fact.effective.as_deref(), Some(OFF), "what sessions do");
        });
    }
}
