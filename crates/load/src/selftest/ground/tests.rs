//! A database of a self-test goes only after what it says of the server is put back.

use super::*;
use proofload_engine::{About, Error as EngineError, Installation, ServerChanges, Work};
use std::sync::Mutex;

/// A server with one database, and what was done there.
struct ServerOfOne {
    state: ScratchState,
    /// Whether it does not take back what was changed.
    is_stuck: bool,
    done: Mutex<Vec<String>>,
}

impl ServerOfOne {
    fn note(&self, text: String) {
        self.done.lock().unwrap().push(text);
    }
}

impl Engine for ServerOfOne {
    fn about(&self) -> About {
        About { name: "scratch", title: "", keeps_data: true, minimum_memory_bytes: 0, settings: &[] }
    }

    fn locate(&self) -> Result<Installation, EngineError> {
        Err(EngineError::other("it is reached by URL"))
    }

    fn scratch_databases(&self) -> Option<&dyn ScratchDatabases> {
        Some(self)
    }

    fn server_changes(&self) -> Option<&dyn ServerChanges> {
        Some(self)
    }

    fn create_database<'a>(&'a self, _target: &'a Target) -> Work<'a, ()> {
        Box::pin(async { Ok(()) })
    }

    fn verify_settings<'a>(&'a self, _target: &'a Target) -> Work<'a, Vec<Fact>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    fn after_build<'a>(&'a self, _target: &'a Target) -> Work<'a, ()> {
        Box::pin(async { Ok(()) })
    }
}

impl ServerChanges for ServerOfOne {
    fn put_back<'a>(&'a self, target: &'a Target) -> Work<'a, ()> {
        Box::pin(async move {
            let url = target.place.url.clone().unwrap_or_default();
            self.note(format!("puts back what {url} says, with {:?}", target.place.settings));
            if self.is_stuck { Err(EngineError::other("the server still has 1")) } else { Ok(()) }
        })
    }
}

impl ScratchDatabases for ServerOfOne {
    fn url(&self, url: &str, database: &str) -> Result<String, EngineError> {
        Ok(format!("{url}/{database}"))
    }

    fn look<'a>(&'a self, _server: &'a Target, _database: &'a str) -> Work<'a, ScratchState> {
        Box::pin(async move { Ok(self.state) })
    }

    fn make<'a>(&'a self, _server: &'a Target, database: &'a str) -> Work<'a, ()> {
        Box::pin(async move {
            self.note(format!("makes {database}"));
            Ok(())
        })
    }

    fn remove<'a>(&'a self, _server: &'a Target, database: &'a str) -> Work<'a, ()> {
        Box::pin(async move {
            self.note(format!("drops {database}"));
            Ok(())
        })
    }
}

/// What is done at a server where this stands under the name, and how making room there ends.
fn cleared(state: ScratchState, is_stuck: bool) -> (Vec<String>, Result<(), String>) {
    let folder = tempfile::tempdir().unwrap();
    let server: &'static ServerOfOne =
        Box::leak(Box::new(ServerOfOne { state, is_stuck, done: Mutex::new(Vec::new()) }));
    let ground = Ground::at_server(server, "scratch://db1", "once", folder.path()).unwrap();
    let outcome = ground.clear().map_err(|error| error.to_string());
    (server.done.lock().unwrap().clone(), outcome)
}

#[test]
fn what_a_killed_self_test_has_changed_is_put_back_before_its_database_goes() {
    let back = "puts back what scratch://db1/once says, with [(\"changes\", \"allowed\")]";
    assert_eq!(cleared(ScratchState::Marked, false), (vec![back.to_owned(), "drops once".to_owned()], Ok(())));
    // Of nobody's and somebody's database nothing is read; whether it goes, the engine decides.
    for state in [ScratchState::Absent, ScratchState::Foreign] {
        assert_eq!(cleared(state, false), (vec!["drops once".to_owned()], Ok(())));
    }
    let (done, outcome) = cleared(ScratchState::Marked, true);
    assert_eq!(done, [back], "old values are not thrown away");
    let error = outcome.unwrap_err();
    assert!(error.contains("the database once holds their old values") && error.contains("still has 1"), "{error}");
}
