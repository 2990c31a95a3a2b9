//! Makes the data of a standby on this host from a running instance on another. May not start it.

use super::held::engine;
use super::remains::InstanceRemains;
use super::replication::facet;
use crate::instances::{self, SecretFiles, User};
use crate::snapshots;
use proofload_model::error::Error;
use proofload_model::time::Clock;
use proofload_model::wire::DataLocation;
use std::path::Path;

/// File beside the data, while they are copied, with the password by which the copier comes.
const PASSWORDS: &str = "passwords";

/// Replaces the data of a folder by a copy of the instance at an address.
pub(super) fn copy(
    place: &DataLocation,
    folder: &Path,
    (from, password): (&str, &str),
    clock: &dyn Clock,
    remains: &InstanceRemains,
) -> Result<(), Error> {
    let recipe = engine(place)?
        .server()
        .ok_or_else(|| Error::refused("failed to copy an instance: the engine has no server"))?;
    snapshots::claim(folder)?;
    snapshots::remove_data(folder)?;
    let data = snapshots::data_folder(folder);
    std::fs::create_dir(&data).map_err(|error| Error::new(format!("failed to create {}: {error}", data.display())))?;
    let passwords = folder.join(PASSWORDS);
    let (command, content) = facet(place)?.copy(from, &data, (&passwords, password))?;
    let _until_it_is_copied = SecretFiles::one(passwords.clone());
    let user = User::for_server(recipe.unprivileged_users())?;
    instances::write_secret(&passwords, &content, user.as_ref())?;
    let copied = instances::fill(recipe, &[command], &data, clock, remains);
    if copied.is_err() {
        let _half_copied = snapshots::remove_data(folder);
    }
    copied.map_err(|error| error.context(format!("failed to copy the instance at {from}")))
}
