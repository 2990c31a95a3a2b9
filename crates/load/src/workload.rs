//! The contract of a workload. May not know any workload by name.

use crate::drive::UserContext;
use crate::selftest::SelftestPart;
use proofload_engine::{Engine, Error as EngineError, Target};
use proofload_model::catalogue::WorkloadFacts;
use proofload_model::error::Error;
use proofload_model::intervention::LimitMeter;
use proofload_model::samples::{Check, Fact, OperationCounts};
use proofload_model::settings::Settings;
use proofload_model::step_count::StepCount;
use proofload_model::time::Clock;
use proofload_model::units::Bytes;
use proofload_model::wire::load::DataState;
use proofload_model::wire::{LoadSpec, ProbeResult};
use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

/// Usual limit on a load's silence: a minute without a second of load is a hang.
pub const USUAL_PATIENCE: Duration = Duration::from_secs(60);

/// Part of a run that counts as its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rating {
    /// A window of the length that the study asks for, after a warm-up whose end the throughput shows.
    Window,
    /// A window that lasts to the end of a load that ends by itself.
    ToItsEnd,
    /// The whole run, from the end of every user's last warm-up round until the first user has no work left: operations
    /// take so long that throughput second by second says nothing.
    WholeRun {
        /// Warm-up rounds of each user before it; 0: it begins at time zero.
        warm_up_rounds: u64,
    },
}

/// Measurements of the machine that a workload needs before its runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Calibration {
    /// A query that scans: run cold once, then warm several times.
    pub scan: &'static str,
    /// Queries whose cost is measured, each run once.
    pub queries: Vec<&'static str>,
    /// Key of the workload's settings that change these costs, in words: one calibration holds for all runs with an
    /// equal key.
    pub under: String,
}

/// The work of a run that ends by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Work {
    /// Operations of all users together.
    pub operations: u64,
    /// Word for them, in the plural.
    pub word: &'static str,
    /// Longest duration; `None` when it has no limit.
    pub at_most: Option<Duration>,
}

/// Sink of a build's progress: what is done, and how much of it where that is counted.
pub type ProgressSink = Arc<dyn Fn(&str, Option<StepCount>) + Send + Sync>;

/// A future that stays on its thread.
pub type LocalFuture<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

/// A workload. Constant and shared; the state of a run is in the value that [`Workload::open`] returns.
pub trait Workload: Sync {
    /// Name, settings and capabilities: everything that a study file may ask of it.
    fn facts(&self) -> WorkloadFacts;

    /// Number of sessions that a run holds open: virtual users.
    fn sessions(&self, settings: &Settings) -> u32;

    /// Names the data that these settings need: scale, size, seed, generator version. Equal labels mean equal data.
    fn data_label(&self, settings: &Settings, seed: u64) -> String;

    /// Expected size of the rows, for `plan`; without indexes and overhead of the engine.
    fn expected_bytes(&self, settings: &Settings) -> Bytes {
        (self.facts().raw_bytes)(settings)
    }

    /// Part of a run that counts as its result.
    fn rating(&self, _settings: &Settings) -> Rating {
        Rating::Window
    }

    /// The work of a run that ends by itself, for `plan`; `None` when it ends with its window.
    fn work(&self, _settings: &Settings) -> Option<Work> {
        None
    }

    /// Longest silence of a run before it is taken for hanging: users of a blocking engine report nothing within an
    /// operation. `None` when operations have no bound.
    fn patience(&self, _settings: &Settings) -> Option<Duration> {
        Some(USUAL_PATIENCE)
    }

    /// Measurements needed before the first run; `None` when there are none.
    fn calibration(&self, _settings: &Settings) -> Option<Calibration> {
        None
    }

    /// Tells whether inputs that were carried out before write values that the data have by then. Some engines write nothing for these, so
    /// that a further run on the same data needs inputs of its own.
    fn rewrites_values(&self) -> bool {
        false
    }

    /// Parts of the self-test, each with an empty database of its own.
    fn selftest(&self) -> &'static [SelftestPart] {
        &[]
    }

    /// Prepares a run. Does not touch the database yet.
    fn open(&self, request: RunRequest) -> Result<Arc<dyn WorkloadRun>, Error>;
}

/// Everything that a workload needs to prepare a run.
#[derive(Clone)]
pub struct RunRequest {
    /// The specification, with all resolved settings.
    pub spec: LoadSpec,
    /// The engine.
    pub engine: &'static dyn Engine,
    /// Address that sessions connect to.
    pub target: Target,
    /// Sink of a build's progress.
    pub progress: ProgressSink,
}

impl RunRequest {
    /// Whether a call to the engine blocks its thread. Embedded engines that keep data do; then every virtual user gets
    /// a thread.
    pub fn is_blocking(&self) -> bool {
        is_blocking(self.engine)
    }
}

/// Whether a call to this engine blocks its thread.
pub(crate) fn is_blocking(engine: &dyn Engine) -> bool {
    let capabilities = engine.facts().capabilities;
    capabilities.embedded && capabilities.durable
}

/// Numbers of an agent's sessions in the whole load.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SessionSpan {
    /// Number of the agent's first session.
    pub first: u32,
    /// Sessions of all agents.
    pub all: u32,
}

/// A workload prepared for one run. Shared by client threads; the state of the run is inside, behind locks that the hot
/// path never takes.
pub trait WorkloadRun: Send + Sync {
    /// Kinds of operations, in the order of the numbers that virtual users give.
    fn kinds(&self) -> &'static [&'static str];

    /// Number of virtual users of this agent.
    fn users(&self) -> u32;

    /// Number of sessions, each on a client thread for the whole run: one for each virtual user, unless they share
    /// them.
    fn sessions(&self) -> u32 {
        self.users()
    }

    /// Numbers of this agent's sessions in the whole load: where users have numbers, they are those of the whole load,
    /// whatever the number of agents.
    fn session_span(&self) -> SessionSpan {
        SessionSpan { first: 0, all: self.sessions() }
    }

    /// Number of client threads that the study asks for; `None` when it does not: then one per user when the engine
    /// blocks, else one per core.
    fn client_threads(&self) -> Option<u32>;

    /// Operations of all users of all agents together after which the load ends by itself; `None` when it runs until it
    /// is stopped.
    fn operations(&self) -> Option<u64> {
        None
    }

    /// Operations of one user that make a round; the end of each round is reported. `None` when operations do not come
    /// in rounds.
    fn round(&self) -> Option<u64> {
        None
    }

    /// Creates and fills the schema, resuming from its manifest; then indexes, analyses, settles. Blocking.
    fn build(&self) -> Result<Vec<Fact>, Error>;

    /// Makes what one agent has to make before several can load data; `false`: this workload is built by one. Blocking.
    fn begin_build(&self) -> Result<bool, Error> {
        Ok(false)
    }

    /// Loads this agent's share of what is missing; [`WorkloadRun::build`] of the first agent ends the build. Blocking.
    fn build_share(&self) -> Result<(), Error> {
        Ok(())
    }

    /// Compares the data with the specification. An error when that is not possible. Blocking.
    fn data_state(&self) -> Result<DataState, Error>;

    /// Fails unless the data fit; the error says what differs and what to do. Blocking.
    fn check_data(&self) -> Result<(), Error> {
        self.data_state()?.must_fit()
    }

    /// Reads what the checks compare with afterwards; only in the first agent, which does them. Called when users are
    /// connected and nothing is in flight. Blocking.
    fn begin(&self) -> Result<Vec<Fact>, Error>;

    /// Runs a session, numbered from 0 within this agent, for its whole life on its client thread: connects, calls
    /// [`UserContext::ready`], then [`UserContext::drive`], then hands over what the checks need. Without shared
    /// sessions it is that of one virtual user. An error before `ready` is an error of connecting.
    fn run_session(self: Arc<Self>, session: u32, context: UserContext) -> LocalFuture<'static, Result<(), Error>>;

    /// Documents for the record besides the checks: name and text. Asked for after [`WorkloadRun::verify`].
    fn documents(&self) -> Vec<(String, String)> {
        Vec::new()
    }

    /// Opens a session for probe queries, replacing an earlier one. Blocking.
    fn open_probe(&self, _clock: &Arc<dyn Clock>) -> Result<(), Error> {
        Err(Error::new("this workload has no probe queries"))
    }

    /// Runs a query of [`Calibration`] in that session. An error is one of the session; the failure of a query is part
    /// of the answer. Blocking.
    fn probe(&self, query: &str) -> Result<ProbeResult, Error> {
        Err(Error::new(format!("this workload has no probe query {query}")))
    }

    /// Reads the database's counters, by name. Blocking; called while load runs too.
    fn counters(&self) -> Result<Vec<(String, i64)>, EngineError> {
        Ok(Vec::new())
    }

    /// Sets what can be changed of it while users run to these values, and all else of that to what the study asks for.
    fn change(&self, values: &BTreeMap<String, f64>) -> Result<(), Error> {
        match values.keys().next() {
            None => Ok(()),
            Some(first) => Err(Error::refused(format!(
                "failed to change {first}: nothing of this load can be changed while it runs"
            ))),
        }
    }

    /// How what can be changed stands.
    fn meters(&self) -> Vec<LimitMeter> {
        Vec::new()
    }

    /// Index below which every operation of this agent has ended; `None` where no agent needs to know.
    fn ended_below(&self) -> Option<u64> {
        None
    }

    /// Takes the index below which every operation of all agents has ended.
    fn take_ended_below(&self, _index: u64) {}

    /// Evidence of this agent's users for the checks, as bytes that [`WorkloadRun::take_evidence`] of the first agent
    /// reads.
    fn evidence(&self) -> Result<Vec<u8>, Error> {
        Err(Error::new("the users of this workload cannot be divided between load agents"))
    }

    /// Takes over the evidence of another agent's users.
    fn take_evidence(&self, _bytes: &[u8]) -> Result<(), Error> {
        Err(Error::new("the users of this workload cannot be divided between load agents"))
    }

    /// Checks data and inputs after the load has stopped; `totals` are the clients' own counts, of all agents.
    /// Blocking.
    fn verify(&self, totals: &[OperationCounts]) -> Result<Vec<Check>, Error>;
}
