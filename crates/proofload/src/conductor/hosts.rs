//! A host under test before its instances: freed of what is left on it, and described. May not know a deployment.

use super::agents::Agents;
use super::heard::Heard;
use proofload_model::deployment::{HostName, folder_on};
use proofload_model::error::Error;
use proofload_model::samples::Fact;
use proofload_model::wire::host;

/// Frees on a host what earlier, killed agents left in a study's folder.
pub(super) fn sweep(agents: &mut Agents, heard: &mut Heard<'_>, host: &HostName, study: &str) -> Result<(), Error> {
    agents.ask_host(host, host::Sweep { folder: folder_on(study, host) }, heard)
}

/// Describes a host.
pub(super) fn describe(
    agents: &mut Agents,
    heard: &mut Heard<'_>,
    host: &HostName,
    study: &str,
) -> Result<Vec<Fact>, Error> {
    agents.ask_host(host, host::Describe { folder: folder_on(study, host) }, heard)
}
