//! A case: a place, a job and what tests do with it.

use super::support::{Place, Special};
use crate::workload::WorkloadRun as _;
use crate::workloads::blocking_session::BlockingSession;
use crate::workloads::tprocc::build::Build;
use crate::workloads::tprocc::selftest::{self, OltpBench};
use crate::workloads::tprocc::session_work::SessionWork;
use crate::workloads::tprocc::user::User;
use crate::workloads::tprocc::workload_run::{CountsBefore, TproccRun};
use proofload_engine::{Engine, Target, engine};
use proofload_gen::tprocc::population::ContentHash;
use proofload_model::samples::{Check, CheckOutcome, OperationCounts};
use proofload_model::settings::Settings;
use proofload_model::wire::DataLocation;
use std::ops::Deref;
use std::sync::Arc;

pub(super) use crate::selftest::LOAD_TIME;

/// An engine at a place with a job. What the self-test asks of it may fail; here it must not.
pub(super) struct Case {
    pub(super) place: Place,
    bench: OltpBench,
}

impl Deref for Case {
    type Target = OltpBench;

    fn deref(&self) -> &OltpBench {
        &self.bench
    }
}

/// The settings of a study of the toy scale, these changed.
pub(crate) fn toy(changes: &[(&str, &str)]) -> Settings {
    let (engine, folder) = ("sqlite".to_owned(), String::new());
    let place = DataLocation { engine, folder, url: None, settings: Vec::new(), tier: None };
    selftest::toy(&Target::new(place, None), changes).unwrap().settings
}

impl Case {
    /// A case on an engine; `None`, with a message, where the engine is not available.
    pub(super) fn new(name: &str, changes: &[(&str, &str)]) -> Option<Self> {
        Self::at(name, changes, true)
    }

    /// The same with data, on a server that no other test has used.
    pub(super) fn built_on_a_new_server(name: &str, changes: &[(&str, &str)]) -> Option<Self> {
        let case = Self::at(name, changes, false)?;
        case.workload_run().build().unwrap();
        Some(case)
    }

    fn at(name: &str, changes: &[(&str, &str)], kept: bool) -> Option<Self> {
        let of_name: &'static dyn Engine = engine(name).unwrap();
        match Place::new(of_name, &[], &Special { prefix: "proofload-tprocc-", kept, ..Special::default() }) {
            Ok(place) => {
                let bench = OltpBench::new(of_name, &place.target, changes).unwrap();
                Some(Self { place, bench })
            }
            Err(reason) => {
                let required = format!("PROOFLOAD_REQUIRE_{}", name.to_uppercase());
                assert!(std::env::var_os(required).is_none(), "{name} is required: {reason}");
                eprintln!("SKIPPED: {name}: {reason}");
                None
            }
        }
    }

    /// The same with data.
    pub(super) fn built(name: &str, changes: &[(&str, &str)]) -> Option<Self> {
        let case = Self::new(name, changes)?;
        case.workload_run().build().unwrap();
        Some(case)
    }

    pub(super) fn workload_run(&self) -> Arc<TproccRun> {
        self.bench.run().unwrap()
    }

    pub(super) fn build(&self) -> Build<'_> {
        Build::new(&self.request, &self.dialect, self.settings)
    }

    pub(super) fn session(&self) -> BlockingSession {
        self.bench.session().unwrap()
    }

    /// The server's log so far; `None` for an embedded engine.
    pub(super) fn server_log(&self) -> Option<String> {
        let recipe = self.request.engine.server()?;
        let file = std::path::Path::new(&self.request.target.place.folder).join("instance").join(recipe.log_file());
        Some(std::fs::read_to_string(file).unwrap())
    }

    /// A session with the workload's statements prepared, and its runtime.
    pub(super) fn work(&self) -> (tokio::runtime::Runtime, SessionWork) {
        self.bench.work().unwrap()
    }

    /// Runs so many transactions of one user, one after another, and returns the user.
    pub(super) fn run_user(&self, number: i32, transactions: u64) -> (User, Vec<OperationCounts>) {
        self.bench.run_user(number, transactions).unwrap()
    }

    /// State of the database that the checks compare with.
    pub(super) fn before(&self) -> CountsBefore {
        self.bench.before().unwrap()
    }

    /// All checks after a run of one user.
    pub(super) fn verify(&self, before: &CountsBefore, user: &User, counts: &[OperationCounts]) -> Vec<Check> {
        self.bench.verify(before, user, counts).unwrap()
    }

    /// The same, whatever the profile breaks.
    pub(super) fn found(&self, before: &CountsBefore, user: &User, counts: &[OperationCounts]) -> Vec<Check> {
        self.bench.found(before, user, counts).unwrap()
    }

    /// Content hash of every table as the engine gives it back.
    pub(super) fn content(&self) -> Vec<(&'static str, ContentHash)> {
        self.bench.content().unwrap()
    }
}

/// Names of the checks that failed.
pub(super) fn failed(checks: &[Check]) -> Vec<&str> {
    checks.iter().filter(|check| check.outcome == CheckOutcome::Failed).map(|check| check.name.as_str()).collect()
}
