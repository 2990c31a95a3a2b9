//! What the fixture says of itself; all else is SQLite's.

use crate::contract::{About, Engine, Error, Installation, Memory, Snapshots, SqlEngine, Target, Work};
use crate::engines::sqlite::{Sqlite, SqliteSession};
use proofload_model::samples::Fact;

/// The fixture.
#[derive(Debug)]
pub struct Example;

impl Engine for Example {
    fn about(&self) -> About {
        About { name: "example", title: "a fixture of the tests", ..Sqlite.about() }
    }

    fn locate(&self) -> Result<Installation, Error> {
        Sqlite.locate()
    }

    fn snapshots(&self) -> Option<Snapshots> {
        Sqlite.snapshots()
    }

    fn memory(&self) -> Option<&dyn Memory> {
        Some(&Sqlite)
    }

    fn create_database<'a>(&'a self, target: &'a Target) -> Work<'a, ()> {
        Sqlite.create_database(target)
    }

    fn verify_settings<'a>(&'a self, target: &'a Target) -> Work<'a, Vec<Fact>> {
        Sqlite.verify_settings(target)
    }

    fn after_build<'a>(&'a self, target: &'a Target) -> Work<'a, ()> {
        Sqlite.after_build(target)
    }
}

impl SqlEngine for Example {
    type Session = SqliteSession;

    fn open_session<'a>(&'a self, target: &'a Target) -> Work<'a, SqliteSession> {
        Sqlite.open_session(target)
    }
}
