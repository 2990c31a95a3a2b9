//! What the null engine says of itself. It has one setting and no state.

use super::{Documents, NullSession};
use crate::contract::{About, DocumentEngine, Engine, Error, Installation, SqlEngine, Target, Work};
use proofload_model::facts::engine;
use proofload_model::samples::Fact;
use proofload_model::settings::{Kind, Scope, SettingSpec};
use proofload_model::units::{duration_text, parse_duration};
use std::time::Duration;

/// The null engine.
#[derive(Debug)]
pub struct Null;

/// Its settings.
const SETTINGS: &[SettingSpec] = &[SettingSpec::new(
    "engine.service_time",
    Kind::Duration { least_ms: 0, most_ms: 60_000 },
    "0s",
    "Time that each flight of calls takes; with 0s the engine answers at once. The client thread's timer rounds it up \
     to whole milliseconds.",
)
.only(Scope::Engine("null"))];

impl Engine for Null {
    fn about(&self) -> About {
        About {
            name: "null",
            title: "answers at once and stores nothing: measures Proofload itself",
            keeps_data: false,
            minimum_memory_bytes: 16 << 20,
            settings: SETTINGS,
        }
    }

    fn locate(&self) -> Result<Installation, Error> {
        Ok(Installation { version: env!("CARGO_PKG_VERSION").to_owned(), place: "built in".to_owned() })
    }

    fn create_database<'a>(&'a self, target: &'a Target) -> Work<'a, ()> {
        Box::pin(async move { service_time(target).map(|_| ()) })
    }

    fn verify_settings<'a>(&'a self, target: &'a Target) -> Work<'a, Vec<Fact>> {
        Box::pin(async move {
            let effective = service_time(target)?;
            Ok(vec![engine::SERVICE_TIME.carried_out(duration_text(effective), "null engine")])
        })
    }

    fn after_build<'a>(&'a self, _target: &'a Target) -> Work<'a, ()> {
        Box::pin(async { Ok(()) })
    }
}

impl SqlEngine for Null {
    type Session = NullSession;

    fn open_session<'a>(&'a self, target: &'a Target) -> Work<'a, NullSession> {
        Box::pin(async move { Ok(NullSession::new(service_time(target)?)) })
    }
}

impl DocumentEngine for Null {
    type Documents = Documents;

    fn open_documents<'a>(&'a self, target: &'a Target) -> Work<'a, Documents> {
        Box::pin(async move { Ok(Documents::new(service_time(target)?)) })
    }
}

/// The service time that the settings ask for; the last one given wins. Other settings are refused.
fn service_time(target: &Target) -> Result<Duration, Error> {
    let mut time = Duration::ZERO;
    for (name, value) in &target.place.settings {
        if name != "service_time" {
            return Err(Error::other(format!(
                "the null engine has no setting {name:?}; its only setting is \"service_time\""
            )));
        }
        time = parse_duration(value)
            .map_err(|error| Error::other(error.to_string()).context("failed to read service_time"))?;
    }
    Ok(time)
}
