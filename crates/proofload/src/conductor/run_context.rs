//! The agents and what is heard of them, together: what every phase works with. Waits for seconds of load; may not know a phase.

use super::agents::Agents;
use super::heard::Heard;
use super::meeting::Meeting;
use super::preparation::PreparedRun;
use super::testbed::Testbed;
use proofload_model::deployment::{Deployment, InstanceName};
use proofload_model::error::Error;
use proofload_model::samples::{Fact, MarkLabel};
use proofload_model::secret::Secret;
use proofload_model::wire::{Ask, load};
use proofload_testbed::random_password;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// How often a wait for seconds of load looks whether the run can go on.
const LOOK_INTERVAL: Duration = Duration::from_millis(100);

/// Agents of a study, and record, view and state that they tell to.
pub(crate) struct RunContext<'a> {
    pub(crate) agents: Agents,
    pub(crate) heard: Heard<'a>,
    /// Where a run waits for the one that is measured at once with it.
    pub(crate) meeting: Option<Meeting>,
    /// Address that each standby of the run follows.
    pub(crate) upstreams: BTreeMap<InstanceName, String>,
    /// Devices that `--yes` names.
    pub(crate) confirmed: Option<String>,
    /// Keys of the calibrations of commits that the record has.
    pub(crate) commits_known: BTreeSet<String>,
    /// Address of each instance of the run.
    pub(crate) addresses: BTreeMap<InstanceName, String>,
    /// Password by which instances with an address are reached in this attempt.
    pub(crate) password: Option<Secret>,
    /// Whether the load generator is under limits of its own.
    pub(crate) clients_limited: bool,
    /// What makes the host under test another one, as this session found it: each attempt keeps it.
    pub(crate) host_facts: Vec<Fact>,
}

impl<'a> RunContext<'a> {
    /// What no phase has worked with yet.
    pub(crate) fn new(agents: Agents, heard: Heard<'a>, meeting: Option<Meeting>) -> Self {
        Self {
            agents,
            heard,
            meeting,
            upstreams: BTreeMap::new(),
            addresses: BTreeMap::new(),
            password: None,
            clients_limited: false,
            host_facts: Vec::new(),
            confirmed: None,
            commits_known: BTreeSet::new(),
        }
    }

    /// The host side of a run.
    pub(super) fn testbed<'c>(&'c mut self, prepared: &'c PreparedRun) -> Testbed<'c, 'a> {
        self.testbed_of(&prepared.deployment)
    }

    /// The primary alone, as data are built and calibrated.
    pub(super) fn primary_alone<'c>(&'c mut self, prepared: &'c PreparedRun) -> Testbed<'c, 'a> {
        self.testbed_of(&prepared.alone)
    }

    /// The host side of a deployment.
    pub(super) fn testbed_of<'c>(&'c mut self, deployment: &'c Deployment) -> Testbed<'c, 'a> {
        let password = self.password.clone();
        Testbed { agents: &mut self.agents, heard: &mut self.heard, deployment, password }
    }

    /// Makes a password for the next attempt at a run whose instances are reached over the network.
    pub(super) fn renew_password(&mut self, prepared: &PreparedRun) -> Result<(), Error> {
        let has_addresses = prepared.alone.primary().address.is_some();
        self.password = has_addresses.then(random_password).transpose()?;
        Ok(())
    }

    /// Tells all load agents the password of the attempt, where there is one.
    pub(super) fn authenticate(&mut self) -> Result<(), Error> {
        let Some(password) = self.password.clone() else { return Ok(()) };
        self.ask_all_load(|_| load::Authenticate { password: Some(password.clone()) }).map(drop)
    }

    /// Asks the first load agent.
    pub(super) fn ask_load<A: Ask>(&mut self, ask: A) -> Result<A::Answer, Error> {
        self.agents.ask_load(0, ask, &mut self.heard)
    }

    /// Asks all load agents.
    pub(super) fn ask_all_load<A: Ask>(&mut self, ask: impl Fn(usize) -> A) -> Result<Vec<A::Answer>, Error> {
        self.agents.ask_all_load(ask, &mut self.heard)
    }

    /// Process to observe when the engine is embedded.
    pub(super) fn load_pid(&self, prepared: &PreparedRun) -> Option<u32> {
        self.agents.load().first().filter(|_| prepared.is_embedded()).map(|agent| agent.pid)
    }

    /// Waits for the run that is measured at once with this one, if there is one.
    pub(super) fn meet(&self) -> Result<(), Error> {
        self.meeting.as_ref().map_or(Ok(()), |meeting| meeting.wait(|| self.agents.expect_no_interrupt()))
    }

    /// An error when somebody asked to stop, or when the run cannot go on.
    pub(super) fn expect_no_trouble(&self) -> Result<(), Error> {
        self.agents.expect_no_interrupt()?;
        self.heard.state.trouble.clone().map_or(Ok(()), Err)
    }

    /// Waits for the next second of load; false when there is none because all operations are done.
    pub(super) fn next_second(&mut self) -> Result<bool, Error> {
        let (seen, began) = (self.heard.state.throughput.len(), self.agents.now());
        while self.heard.state.throughput.len() == seen {
            self.agents.hear(LOOK_INTERVAL, &mut self.heard)?;
            self.expect_no_trouble()?;
            let state = &self.heard.state;
            if state.throughput.len() > seen {
                break;
            }
            if state.end.is_some_and(|end| end.intervals <= seen as u64) {
                return Ok(false);
            }
            if let Some(patience) = state.patience.filter(|patience| self.agents.now().since(began) > *patience) {
                return Err(Error::lost(format!(
                    "no load was reported for {patience:?}; the load agent or the database hangs"
                )));
            }
        }
        Ok(true)
    }

    /// Reads the database's counters and notes them.
    pub(super) fn mark(&mut self, label: MarkLabel) -> Result<(), Error> {
        let mark = self.ask_load(load::ReadMark {})?;
        self.heard.journal.mark(label, &mark)
    }
}

impl RunContext<'_> {
    /// Waits until this many seconds of load have been reported; false when the load ended before.
    pub(super) fn wait_for(&mut self, count: usize) -> Result<bool, Error> {
        while self.heard.state.throughput.len() < count {
            if !self.next_second()? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
