//! Part of one instance in replication: its relay, whom it follows, its promotion and its way back. May not know how an engine replicates,
//! nor which instance should lead.

use super::super::replication::{self, InstanceReplication, RelayedSide};
use super::{InstanceResources, engine};
use crate::instances;
use crate::relay::Way;
use proofload_engine::{Replication, ReplicationWatch, Target};
use proofload_model::deployment::InstanceName;
use proofload_model::error::Error;
use proofload_model::replication::{HeldPart, LinkAsked, LinkMeasured, ReplicationAsked, ReplicationPart};
use proofload_model::time::Moment;
use proofload_model::units::Bytes;
use proofload_model::wire::DataLocation;
use std::sync::Arc;

impl InstanceResources {
    /// Watches the standbys of a server that was not started here.
    pub(in crate::host) fn watch_existing(
        &mut self,
        place: DataLocation,
        asked: ReplicationAsked,
    ) -> Result<(), Error> {
        self.replication = Some(InstanceReplication::of_existing(&Target::new(place, None), asked)?);
        Ok(())
    }

    /// Notes that a failover manager may change its part.
    pub(in crate::host) fn part_may_change(&mut self) {
        self.part_may_have_changed = true;
    }

    /// The watch of its standbys, which are among the other instances of the host.
    pub(in crate::host) fn replication(
        &mut self,
        beside: &[(InstanceName, Target)],
    ) -> Result<&mut Box<dyn ReplicationWatch>, Error> {
        self.replication.as_mut().ok_or_else(alone)?.watch(beside)
    }

    /// Starts a relay in the place of an earlier one: that through which it shall follow, or, of a primary that runs, that by which its users
    /// come. The address that the other end is told.
    pub(in crate::host) fn start_link(
        &mut self,
        place: &DataLocation,
        upstream: &str,
        link: LinkAsked,
    ) -> Result<String, Error> {
        if self.link.is_some() {
            self.refuse_while_running("start a relay")?;
            self.link = None;
        }
        // A standby gets its relay before it starts; what runs without a part in replication has users alone.
        let by_users = self.replication.as_ref().map_or(self.server.is_some(), InstanceReplication::is_of_primary);
        let side = if by_users { RelayedSide::Users } else { RelayedSide::Standby };
        let (relay, address) = replication::start_relay((place, side), upstream, link, Arc::clone(&self.clock))?;
        self.link = Some(relay);
        self.follows(upstream);
        Ok(address)
    }

    /// Measures its relay.
    pub(in crate::host) fn measure_link(&self, count: u32) -> Result<LinkMeasured, Error> {
        let relay = self.link.as_ref().ok_or_else(|| Error::new("failed to measure the link: there is no relay"))?;
        let mut round_trips = relay.round_trips(count)?;
        round_trips.sort_unstable();
        Ok(LinkMeasured { round_trips, bandwidth: relay.bandwidth()? })
    }

    /// Holds a part of what it does as a standby, or lets it go on. The link is held in its relay, where there is one.
    pub(in crate::host) fn hold(&self, part: HeldPart, held: bool) -> Result<(), Error> {
        if let (HeldPart::Link, Some(relay)) = (part, &self.link) {
            relay.hold(&Way::BOTH, held);
            return Ok(());
        }
        let server = self.process().ok_or_else(|| Error::new("failed to hold a standby: it is not running"))?;
        self.replication.as_ref().ok_or_else(alone)?.hold(server, part, held, &*self.clock)
    }

    /// Puts a mode in force at it as at a primary.
    pub(in crate::host) fn protect(&mut self, asked: ReplicationAsked) -> Result<(), Error> {
        let (facet, target) = self.standby()?;
        facet.reconfigure(target, &facet.primary_settings(&asked))?;
        self.replication = InstanceReplication::of(target, ReplicationPart::Primary(asked))?;
        Ok(())
    }

    /// Lets it follow another instance; the address that it was told.
    pub(in crate::host) fn follow(
        &mut self,
        place: &DataLocation,
        upstream: &str,
        link: Option<LinkAsked>,
    ) -> Result<String, Error> {
        let told = match link {
            Some(link) => {
                self.link = None;
                let (place, clock) = ((place, RelayedSide::Standby), Arc::clone(&self.clock));
                let (relay, address) = replication::start_relay(place, upstream, link, clock)?;
                self.link = Some(relay);
                address
            }
            None => upstream.to_owned(),
        };
        let (facet, target) = self.standby()?;
        let files = facet.standby(self.name.as_str(), &told, self.password())?;
        instances::lead(&self.folder()?, &files.links)?;
        facet.follow(target, &files)?;
        self.follows(upstream);
        Ok(told)
    }

    /// Bytes of the primary's log that it has received as a standby.
    pub(in crate::host) fn received(&self) -> Result<Bytes, Error> {
        let (facet, target) = self.standby()?;
        Ok(facet.received(target)?)
    }

    /// Makes it a primary.
    pub(in crate::host) fn promote(&self) -> Result<Moment, Error> {
        let (facet, target) = self.standby()?;
        facet.promote(target)?;
        Ok(self.clock.now())
    }

    /// Prepares it, which was promoted, to be what another instance is rewound by.
    pub(in crate::host) fn before_rewind(&self) -> Result<(), Error> {
        let (facet, target) = self.standby()?;
        // The program would follow the link into the folder of whom this one followed.
        instances::unlead(&self.folder()?, facet.links())?;
        Ok(facet.before_rewind(target)?)
    }

    /// Puts it, which has ended, back to where its log and that of the instance at an address are one.
    pub(in crate::host) fn rewind(&mut self, place: &DataLocation, upstream: &str) -> Result<(), Error> {
        self.end_faulty();
        self.refuse_while_running("rewind the instance")?;
        let recipe =
            engine(place)?.server().ok_or_else(|| Error::refused("failed to rewind: the engine has no server"))?;
        let data = self.folder()?;
        let passwords = instances::rewind_passwords(&data);
        let password = self.password().map(|password| (passwords.as_path(), password));
        let how = replication::facet(place)?.rewind(&data, upstream, password)?;
        instances::rewind(recipe, &how, &data, &*self.clock, &self.remains)
    }

    /// Whether it has applied all log that it has received as a standby.
    pub(in crate::host) fn has_applied_all(&self) -> Result<bool, Error> {
        let (facet, target) = self.standby()?;
        Ok(facet.has_applied_all(target)?)
    }

    pub(super) fn standby(&self) -> Result<(&'static dyn Replication, &Target), Error> {
        let running = self.server.as_ref().ok_or_else(|| Error::new("failed to ask a standby: it is not running"))?;
        Ok((replication::facet(&running.target.place)?, &running.target))
    }
}

fn alone() -> Error {
    Error::new("failed to observe the replication: the instance takes no part in it")
}
