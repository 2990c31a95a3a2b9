//! One instance's part in the replication of its deployment: how it is watched, and how what it does as a standby is held. May not know
//! which instances there are.

use super::held::engine;
use crate::instances;
use crate::relay::{LinkLaw, Relay};
use crate::sys;
use proofload_engine::{
    ExistingReplication, GroupFailover, Replication, ReplicationWatch, SocketPlace, StandbyFiles, Target,
};
use proofload_model::deployment::InstanceName;
use proofload_model::error::Error;
use proofload_model::replication::{HeldPart, LinkAsked, ReplicationAsked, ReplicationPart};
use proofload_model::secret::Secret;
use proofload_model::time::Clock;
use proofload_model::wire::DataLocation;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

const STOP: i32 = 19;
const CONTINUE: i32 = 18;

/// Folder of a standby in which its relay listens.
const LINK: &str = "link";

/// How often is looked whether a process has stopped, and with which pauses: one that waits for a disk stops afterwards.
const LOOKS: u32 = 6_000;
const GLANCE: Duration = Duration::from_millis(5);

/// The part of an instance, once its server runs.
pub(super) struct InstanceReplication {
    /// Replication of a server that was started here; `None` for another, which is only watched.
    facet: Option<&'static dyn Replication>,
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
pub(super) fn files(
    name: &str,
    place: &DataLocation,
    part: &ReplicationPart,
    password: Option<&Secret>,
) -> Result<StandbyFiles, Error> {
    match part {
        ReplicationPart::Standby { upstream } => {
            Ok(facet(place)?.standby(name, upstream, password.map(Secret::reveal))?)
        }
        ReplicationPart::Alone | ReplicationPart::Primary(_) => Ok(StandbyFiles::default()),
    }
}

/// Clients of a relay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RelayedSide {
    /// A standby, to the instance that it follows.
    Standby,
    /// Users and prober, to the primary.
    Users,
}

/// Starts a relay to `upstream` in a folder that the standby's server may use alone; the address that who comes through it is told.
pub(super) fn start_relay(
    (place, side): (&DataLocation, RelayedSide),
    upstream: &str,
    link: LinkAsked,
    clock: Arc<dyn Clock>,
) -> Result<(Relay, String), Error> {
    let recipe =
        engine(place)?.server().ok_or_else(|| Error::refused("failed to start a relay: the engine has no server"))?;
    let folder = std::path::absolute(Path::new(&place.folder).join(LINK));
    let folder = folder.map_err(|error| Error::new(format!("failed to find the folder of the relay: {error}")))?;
    std::fs::create_dir_all(&folder)
        .map_err(|error| Error::new(format!("failed to create {}: {error}", folder.display())))?;
    let port = (side == RelayedSide::Standby).then(instances::free_port).transpose()?;
    let places = facet(place)?.relayed(upstream, &folder, port)?;
    let law = LinkLaw { delay: link.rtt / 2, rate: link.bandwidth };
    let relay = Relay::start(&places.at, places.to, law, clock)?;
    instances::give_to_server(recipe, &[&folder])?;
    if let SocketPlace::File(file) = &places.at {
        instances::give_to_server(recipe, &[file])?;
    }
    Ok((relay, places.address))
}

/// The replication of the engine of a place.
pub(super) fn facet(place: &DataLocation) -> Result<&'static dyn Replication, Error> {
    let facet = engine(place)?.replication();
    facet.ok_or_else(|| Error::refused(format!("failed to replicate: {} has no standbys", place.engine)))
}

impl InstanceReplication {
    /// The part of a server that runs; `None` for one alone.
    pub(super) fn of(target: &Target, part: ReplicationPart) -> Result<Option<Self>, Error> {
        let asked = match part {
            ReplicationPart::Alone => return Ok(None),
            ReplicationPart::Primary(asked) => Some(asked),
            ReplicationPart::Standby { .. } => None,
        };
        Ok(Some(Self { facet: Some(facet(&target.place)?), target: target.clone(), asked, watch: None }))
    }

    /// The part of a server that was not started here.
    pub(super) fn of_existing(target: &Target, asked: ReplicationAsked) -> Result<Self, Error> {
        existing(target)?;
        Ok(Self { facet: None, target: target.clone(), asked: Some(asked), watch: None })
    }

    /// Failover of the group of a server that was not started here, and what its servers are reached by.
    pub(super) fn failover(&self) -> Result<(&'static dyn GroupFailover, &Target), Error> {
        let facet = match self.facet {
            Some(_) => None,
            None => existing(&self.target)?.failover(),
        };
        let facet = facet.ok_or_else(|| Error::refused("failed to fail over: the servers have no command for it"))?;
        Ok((facet, &self.target))
    }

    /// Tells whether others follow it.
    pub(super) fn is_of_primary(&self) -> bool {
        self.asked.is_some()
    }

    /// A watch of its own; `None` for a standby. `beside`: the other instances of its host.
    pub(super) fn open_watch(
        &self,
        beside: &[(InstanceName, Target)],
    ) -> Result<Option<Box<dyn ReplicationWatch>>, Error> {
        let Some(asked) = &self.asked else { return Ok(None) };
        let watch = match self.facet {
            Some(facet) => facet.watch(&self.target, &standbys_of(asked, beside), asked)?,
            None => existing(&self.target)?.watch(&self.target, asked)?,
        };
        Ok(Some(watch))
    }

    /// The watch of a primary, opened at the first call.
    pub(super) fn watch(&mut self, beside: &[(InstanceName, Target)]) -> Result<&mut Box<dyn ReplicationWatch>, Error> {
        if self.watch.is_none() {
            self.watch = self.open_watch(beside)?;
        }
        self.watch.as_mut().ok_or_else(|| Error::new("failed to watch the replication: the instance is no primary"))
    }

    /// Holds a part of what a standby does, or lets it go on; `server`: the root of its processes.
    pub(super) fn hold(&self, server: u32, part: HeldPart, held: bool, clock: &dyn Clock) -> Result<(), Error> {
        let facet = self.facet.ok_or_else(|| Error::refused("failed to hold a standby: it was not started here"))?;
        match part {
            HeldPart::Apply => Ok(facet.hold_apply(&self.target, held)?),
            HeldPart::Link => hold_link(facet.receiver(), server, held, clock),
        }
    }
}

/// Instances of a host that are standbys of this replication.
fn standbys_of(asked: &ReplicationAsked, beside: &[(InstanceName, Target)]) -> Vec<(InstanceName, Target)> {
    beside.iter().filter(|(name, _)| asked.standbys.contains(name)).cloned().collect()
}

/// The standbys of an existing server of the engine of a target.
fn existing(target: &Target) -> Result<&'static dyn ExistingReplication, Error> {
    let facet = engine(&target.place)?.existing_replication();
    facet.ok_or_else(|| {
        Error::refused(format!("failed to watch standbys: {} does not support standbys by URL", target.place.engine))
    })
}

/// Stops the process that receives, which may be the server itself, and looks that it has stopped.
fn hold_link(role: Option<&str>, server: u32, held: bool, clock: &dyn Clock) -> Result<(), Error> {
    let of_role = |process: &u32| sys::role_of(*process).as_deref() == role;
    let receiver = role.map_or(Some(server), |_| sys::descendants(server).into_iter().find(of_role));
    let role = role.unwrap_or("the server");
    let Some(receiver) = receiver else {
        return if held {
            Err(Error::new(format!("failed to hold the link: no such process: {role}")))
        } else {
            Ok(())
        };
    };
    let mut looks = if sys::signal(receiver, if held { STOP } else { CONTINUE }) { LOOKS } else { 0 };
    while looks > 0 {
        if sys::is_stopped(receiver) == held {
            return Ok(());
        }
        clock.sleep(GLANCE);
        looks -= 1;
    }
    let what = if held { "stop" } else { "continue" };
    Err(Error::new(format!("failed to hold the link: process {receiver} ({role}) does not {what}")))
}
