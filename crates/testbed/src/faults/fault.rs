//! The contract of a fault, and what it is made at.

use super::process::Process;
use crate::instances::Server;
use crate::limits::{AppliedLimits, CgroupDir};
use crate::network::Cable;
use crate::relay::Relay;
use proofload_model::drill::FaultKind;
use proofload_model::error::Error;
use proofload_model::fault_strength::FaultStrength;
use proofload_model::time::Clock;
use std::path::Path;
use std::time::Duration;

/// How long a fault may take until it is in force, and until it is undone.
const WITHIN: Duration = Duration::from_secs(30);

/// One kind of fault in four steps, each of which may be repeated. A check that fails says what was found instead.
pub(super) trait FaultMaker: Sync {
    /// The kind.
    fn kind(&self) -> FaultKind;

    /// Makes it, as strong as was asked for.
    fn make(&self, site: &FaultSite<'_>) -> Result<(), Error>;

    /// Fails unless it is in force, as strong as was asked for.
    fn expect_in_force(&self, site: &FaultSite<'_>) -> Result<(), Error>;

    /// Undoes it as far as that needs no start of the server.
    fn undo(&self, site: &FaultSite<'_>) -> Result<(), Error>;

    /// Fails unless it is undone.
    fn expect_undone(&self, site: &FaultSite<'_>) -> Result<(), Error>;

    /// How long it may take until it is in force.
    fn patience(&self) -> Duration {
        WITHIN
    }
}

/// Place of a fault.
#[derive(Clone, Copy)]
pub(crate) struct FaultSite<'a> {
    /// Source of time.
    pub(crate) clock: &'a dyn Clock,
    /// How strong the fault is.
    pub(crate) strength: FaultStrength,
    /// Server of the instance; `None` once it has ended.
    pub(crate) server: Option<&'a Server>,
    /// First process of the server before the fault.
    pub(crate) first: Option<Process>,
    /// Processes of the instance before the fault.
    pub(crate) processes: &'a [Process],
    /// Control group that halts them; `None` where there is none.
    pub(crate) group: Option<&'a CgroupDir>,
    /// Limits of the instance.
    pub(crate) limits: Option<&'a AppliedLimits>,
    /// Folder that it works on.
    pub(crate) data: &'a Path,
    /// Relay of its link.
    pub(crate) relay: Option<&'a Relay>,
    /// Device of its network, where that is its own and it follows another.
    pub(crate) cable: Option<&'a Cable>,
    /// What applies its log, where it is a standby.
    pub(crate) replay: Option<&'a dyn Replay>,
    /// Gives the failover manager the order to switch over, and does not wait.
    pub(crate) switch_over: Option<&'a dyn Fn() -> Result<(), Error>>,
}

/// What applies the log of a standby.
pub(crate) trait Replay {
    /// Pauses it, or lets it go on.
    fn pause(&self, paused: bool) -> Result<(), Error>;

    /// Whether it stands still.
    fn is_paused(&self) -> Result<bool, Error>;
}

impl<'a> FaultSite<'a> {
    pub(super) fn server(&self) -> Result<&'a Server, Error> {
        self.server.ok_or_else(|| Error::refused("failed to inject the fault: the instance is not running"))
    }

    pub(super) fn relay(&self) -> Result<&'a Relay, Error> {
        self.relay.ok_or_else(|| Error::refused("failed to change a link: it has no relay; set replication.rtt"))
    }

    pub(super) fn limits(&self) -> Result<&'a AppliedLimits, Error> {
        self.limits.ok_or_else(|| Error::refused("failed to slow the disk of an instance: no limits were prepared"))
    }

    /// Processes that were there before the fault and run.
    pub(super) fn left(&self) -> impl Iterator<Item = Process> {
        self.processes.iter().copied().filter(|process| process.is_running())
    }

    /// Fails while processes from before the fault run.
    pub(super) fn expect_none_left(&self) -> Result<(), Error> {
        match self.left().count() {
            0 => Ok(()),
            left => Err(Error::new(format!("{left} of {} processes are still running", self.processes.len()))),
        }
    }
}

/// A check that found something else.
pub(super) fn expect(holds: bool, otherwise: impl FnOnce() -> String) -> Result<(), Error> {
    if holds { Ok(()) } else { Err(Error::new(otherwise())) }
}
