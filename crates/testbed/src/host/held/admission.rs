//! How other hosts reach an instance: it listens at an address and lets in who knows the password of the run. May not know who they are.

use super::super::replication::{self, facet};
use super::InstanceResources;
use crate::instances::{SecretFiles, WayIn};
use crate::network::Cable;
use proofload_engine::{SocketPlace, StandbyFiles};
use proofload_model::error::Error;
use proofload_model::replication::ReplicationPart;
use proofload_model::secret::Secret;
use proofload_model::wire::DataLocation;
use proofload_model::wire::host::{Admit, StartedInstance};
use std::net::{IpAddr, SocketAddr};
use std::path::Path;

/// Address and password by which other hosts reach an instance.
#[derive(Debug)]
pub(super) struct Admission {
    at: IpAddr,
    password: Secret,
    /// Network device that its host has to itself.
    device: Option<String>,
    /// Address of the instance that it follows, past a relay.
    follows: Option<String>,
    /// What holds the password where the server finds it.
    files: SecretFiles,
}

impl InstanceResources {
    /// Has it reached by other hosts from its next start on.
    pub(in crate::host) fn admit(&mut self, ask: Admit) {
        let Admit { at, device, password, .. } = ask;
        let follows = self.admission.take().and_then(|earlier| earlier.follows);
        self.admission = Some(Admission { at, password, device, follows, files: SecretFiles::default() });
    }

    /// Notes whom it follows, where that is not told by the part in which it is started.
    pub(super) fn follows(&mut self, upstream: &str) {
        if let Some(admission) = &mut self.admission {
            admission.follows = Some(upstream.to_owned());
        }
    }

    /// The device of its network and who should answer over it; `None` where it has none to itself or follows nobody.
    pub(super) fn cable(&self) -> Option<Cable> {
        let admission = self.admission.as_ref()?;
        let (device, upstream) = (admission.device.clone()?, admission.follows.as_ref()?);
        let place = &self.server.as_ref()?.target.place;
        let SocketPlace::Host { host, port } = facet(place).ok()?.relayed(upstream, Path::new(""), None).ok()?.to
        else {
            return None;
        };
        Some(Cable { device, peer: SocketAddr::new(host.parse().ok()?, port) })
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
        let has_relay = self.link.is_some();
        let Some(admission) = &mut self.admission else { return Ok((standby, None)) };
        if let (ReplicationPart::Standby { upstream }, false) = (part, has_relay) {
            admission.follows = Some(upstream.clone());
        }
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
