//! Start and stop of the server of one instance, by its recipe or by a failover manager. May not know the recipe of an engine.

use super::super::cluster::SIGNALS;
use super::super::replication::InstanceReplication;
use super::{InstanceResources, RunningServer, engine};
use crate::instances::{self, Launch, Server, Start, User};
use crate::managers::{NodePlan, ProcessPlan};
use crate::snapshots;
use proofload_engine::Target;
use proofload_model::error::Error;
use proofload_model::facts::engine as names;
use proofload_model::replication::ReplicationPart;
use proofload_model::samples::Fact;
use proofload_model::wire::DataLocation;
use proofload_model::wire::host::StartedInstance;
use std::path::Path;

impl InstanceResources {
    /// Starts the server in its part.
    pub(in crate::host) fn start(
        &mut self,
        place: DataLocation,
        part: ReplicationPart,
    ) -> Result<StartedInstance, Error> {
        self.refuse_while_running("start the server")?;
        snapshots::expect_kept(Path::new(&place.folder), "start the server")?;
        self.end_faulty();
        let without = || Error::new(format!("failed to start the server: no recipe says how to run {}", place.engine));
        let data = self.folder().map_err(|error| error.context("failed to start the server"))?;
        let (standby, reached) = self.admission_of(&place, &part, &data)?;
        let (server, facts) = instances::start(Start {
            instance: &self.name,
            recipe: engine(&place)?.server().ok_or_else(without)?,
            data,
            port: self.port.take(),
            settings: &place.settings,
            standby,
            reached,
            limits: self.limits.as_mut(),
            clock: &self.clock,
            events: &self.events,
            remains: &self.remains,
        })?;
        let leads = !matches!(part, ReplicationPart::Standby { .. });
        let started = self.serves(server, place, part, facts)?;
        self.reached_by_others(started, reached, leads)
    }

    /// Launches the failover manager of its node, which starts the server.
    pub(in crate::host) fn start_managed(
        &mut self,
        (node, process, user): (NodePlan, ProcessPlan, Option<User>),
        place: DataLocation,
        part: ReplicationPart,
    ) -> Result<StartedInstance, Error> {
        self.refuse_while_running("start the failover manager")?;
        snapshots::expect_kept(Path::new(&place.folder), "start the failover manager")?;
        let recipe = engine(&place)?.server().ok_or_else(|| Error::refused("the engine has no server"))?;
        let line = format!("{} {}", process.command.program.display(), process.command.arguments.join(" "));
        let server = instances::launch(Launch {
            instance: &self.name,
            command: process.command,
            folder: &process.folder,
            log: process.folder.join("log"),
            user: user.as_ref(),
            signals: SIGNALS,
            runs: process.runs,
            port: node.port,
            address: node.server.address,
            answers: &|address| Ok(recipe.probe(address)?),
            limits: self.limits.as_mut(),
            clock: &self.clock,
            events: &self.events,
            remains: &self.remains,
        })?;
        let facts = vec![
            names::INSTANCE_COMMAND.observed(line, "the start of the failover manager"),
            names::INSTANCE_PROCESS.observed(server.process(), "the start of the failover manager"),
        ];
        self.serves(server, place, part, facts)
    }

    /// Notes a server that answers.
    fn serves(
        &mut self,
        server: Server,
        place: DataLocation,
        part: ReplicationPart,
        facts: Vec<Fact>,
    ) -> Result<StartedInstance, Error> {
        let address = server.address().to_owned();
        let target = Target::new(place, Some(address.clone()));
        (self.ended_by_fault, self.part_may_have_changed) = (false, false);
        self.server = Some(RunningServer { server, target });
        self.replication = self.server.as_ref().map_or(Ok(None), |one| InstanceReplication::of(&one.target, part))?;
        Ok(StartedInstance { address, reached_at: None, facts: self.stamped(facts) })
    }

    /// Stops the server, if there is one; what a fault has frozen is ended.
    pub(in crate::host) fn stop(&mut self) -> Result<(), Error> {
        self.end_faulty();
        (self.replication, self.port, self.admission) = (None, None, None);
        let stopped = self.server.take().map_or(Ok(()), |running| running.server.stop());
        self.link = None;
        stopped
    }
}
