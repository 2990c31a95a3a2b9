//! Where a part of the self-test works.

use super::ground::location;
use proofload_engine::{Engine, Target};
use proofload_model::error::Error;
use proofload_model::time::Clock;
use std::path::PathBuf;
use std::process::Child;
use std::sync::Arc;

/// Leave to change the server that a self-test runs at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerLeave {
    /// Nothing of the server is changed but the database of the self-test.
    Refused,
    /// The server backs that database up and restores it, and settings of the whole server are changed for a moment, as under
    /// `engine.changes = "allowed"`.
    Allowed,
}

/// An empty database of an engine, and what a part needs beside it.
pub struct Bench {
    /// The engine.
    pub engine: &'static dyn Engine,
    /// Its database: empty when a part begins.
    pub target: Target,
    /// An engine in this process whose data those of the engine must equal.
    pub reference: &'static dyn Engine,
    /// An empty folder for its data.
    pub reference_folder: PathBuf,
    /// The machine's clock.
    pub clock: Arc<dyn Clock>,
    /// Leave to change the server beyond that database.
    pub leave: ServerLeave,
    /// Starts a process that builds data of order entry in `target`, to be killed; `None` where there is no such program.
    pub build_apart: Option<Arc<dyn Fn() -> Result<Child, Error>>>,
}

impl std::fmt::Debug for Bench {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bench").field("engine", &self.engine.about().name).finish_non_exhaustive()
    }
}

impl Bench {
    /// The reference's database.
    pub(crate) fn reference_target(&self) -> Target {
        Target::new(location(self.reference, &self.reference_folder, None), None)
    }

    /// Tells whether the engine is itself what others are compared with.
    pub(crate) fn is_reference(&self) -> bool {
        self.engine.about().name == self.reference.about().name
    }
}
