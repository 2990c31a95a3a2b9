//! How other hosts reach an instance: it listens at an address and lets in who knows the password of the run. May not know who they are.

use super::super::replication::{self, facet};
use super::InstanceResources;
use crate::instances::{SecretFiles, WayIn};
use proofload_engine::StandbyFiles;
use proofload_model::error::Error;
use proofload_model::replication::ReplicationPart;
use proofload_model::secret::Secret;
use proofload_model::wire::DataLocation;
use proofload_model::wire::host::StartedInstance;
use std::net::IpAddr;
use std::path::Path;

/// Address and password by which other hosts reach an instance.
#[derive(Debug)]
pub(super) struct Admission {
    at: IpAddr,
    password: Secret,
    /// What holds the password where the server finds it.
    files: SecretFiles,
}

impl InstanceResources {
    /// Has it reached by other hosts from its next start on.
    pub(in crate::host) fn admit(&mut self, at: IpAddr, password: Secret) {
        self.admission = Some(Admission { at, password, files: SecretFiles::default() });
    }

    /// Password of the run, where there is one.
    pub(in crate::host) fn password(&self) -> Option<&str> {
        self.admission.as_ref().map(|admission| admission.password.reveal())
    }

    /// What it needs before its start to take its part, and where other hosts will reach it.
    pub(super) fn admission_of(
        &mut self,
        place: &DataLocation,
        part: &ReplicationPart,
        data: &Path,
    ) -> Result<(StandbyFiles, Option<WayIn>), Error> {
        let password = self.admission.as_ref().map(|admission| &admission.password);
        let standby = replication::files(self.name.as_str(), place, part, password)?;
        let Some(admission) = &mut self.admission else { return Ok((standby, None)) };
        // Those of an earlier start go before they are written anew.
        admission.files = SecretFiles::default();
        admission.files = SecretFiles::of(data, &standby.secrets);
        Ok((standby, Some(WayIn { engine: facet(place)?, at: admission.at })))
    }

    /// Has a server that was started come by the password, where it leads: its standbys take that from its log.
    pub(super) fn reached_by_others(
        &self,
        started: StartedInstance,
        reached: Option<WayIn>,
        leads: bool,
    ) -> Result<StartedInstance, Error> {
        let (Some(WayIn { engine, at }), Some(password), Some(running)) = (reached, self.password(), &self.server)
        else {
            return Ok(started);
        };
        if leads {
            engine.set_accounts(&running.target, &[], password)?;
        }
        let reachable = engine.reachable(&running.target.place.settings, at, running.server.port())?;
        Ok(StartedInstance { reached_at: Some(reachable.address), ..started })
    }
}
