//! One instance's part in the replication of its deployment: how it is watched, and how what it does as a standby is held. May not know
//! which instances there are.

use super::held::engine;
use crate::probes::threads_role;
use crate::sys;
use proofload_engine::{Replication, ReplicationWatch, StandbyFiles, Target};
use proofload_model::error::Error;
use proofload_model::replication::{HeldPart, ReplicationAsked, ReplicationPart};
use proofload_model::time::Clock;
use proofload_model::wire::DataLocation;
use std::time::Duration;

const STOP: i32 = 19;
const CONTINUE: i32 = 18;

/// How often is looked whether a process has stopped, and with which pauses.
const LOOKS: u32 = 200;
const GLANCE: Duration = Duration::from_millis(5);

/// The part of an instance, once its server runs.
pub(super) struct InstanceReplication {
    facet: &'static dyn Replication,
    target: Target,
    asked: Option<ReplicationAsked>,
    watch: Option<Box<dyn ReplicationWatch>>,
}

impl std::fmt::Debug for InstanceReplication {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("InstanceReplication").field("asked", &self.asked).finish_non_exhaustive()
    }
}

/// What an instance needs before its start to take its part.
pub(super) fn files(name: &str, place: &DataLocation, part: &ReplicationPart) -> Result<StandbyFiles, Error> {
    match part {
        ReplicationPart::Standby { upstream } => Ok(facet(place)?.standby(name, upstream)?),
        ReplicationPart::Alone | ReplicationPart::Primary(_) => Ok(StandbyFiles::default()),
    }
}

fn facet(place: &DataLocation) -> Result<&'static dyn Replication, Error> {
    let facet = engine(place)?.replication();
    facet.ok_or_else(|| Error::refused(format!("replicate: {} has no standbys", place.engine)))
}

impl InstanceReplication {
    /// The part of a server that runs; `None` for one alone.
    pub(super) fn of(target: &Target, part: ReplicationPart) -> Result<Option<Self>, Error> {
        let asked = match part {
            ReplicationPart::Alone => return Ok(None),
            ReplicationPart::Primary(asked) => Some(asked),
            ReplicationPart::Standby { .. } => None,
        };
        Ok(Some(Self { facet: facet(&target.place)?, target: target.clone(), asked, watch: None }))
    }

    /// A watch of its own; `None` for a standby.
    pub(super) fn open_watch(&self) -> Result<Option<Box<dyn ReplicationWatch>>, Error> {
        Ok(self.asked.as_ref().map(|asked| self.facet.watch(&self.target, asked)).transpose()?)
    }

    /// The watch of a primary, opened at the first call.
    pub(super) fn watch(&mut self) -> Result<&mut Box<dyn ReplicationWatch>, Error> {
        if self.watch.is_none() {
            self.watch = self.open_watch()?;
        }
        self.watch.as_mut().ok_or_else(|| Error::new("watch the replication: the instance is no primary"))
    }

    /// Holds a part of what a standby does, or lets it go on; `server`: the root of its processes.
    pub(super) fn hold(&self, server: u32, part: HeldPart, held: bool, clock: &dyn Clock) -> Result<(), Error> {
        match part {
            HeldPart::Apply => Ok(self.facet.hold_apply(&self.target, held)?),
            HeldPart::Link => self.hold_link(server, held, clock),
        }
    }

    /// Stops the process that receives, and looks that it has stopped.
    fn hold_link(&self, server: u32, held: bool, clock: &dyn Clock) -> Result<(), Error> {
        let role = self.facet.receiver();
        let receiver =
            sys::descendants(server).into_iter().find(|process| threads_role(*process).as_deref() == Some(role));
        let Some(receiver) = receiver else {
            return if held { Err(Error::new(format!("hold the link: there is no process {role}"))) } else { Ok(()) };
        };
        let mut looks = if sys::signal(receiver, if held { STOP } else { CONTINUE }) { LOOKS } else { 0 };
        while looks > 0 {
            if sys::is_stopped(receiver) == held {
                return Ok(());
            }
            clock.sleep(GLANCE);
            looks -= 1;
        }
        let what = if held { "stop" } else { "go on" };
        Err(Error::new(format!("hold the link: process {receiver} ({role}) does not {what}")))
    }
}
