//! Frees what dead agents have left of the storages of a study. May not know what a storage is made of.

use super::{tier, volume};
use proofload_model::error::Error;
use proofload_model::time::Clock;
use std::path::Path;

/// Gives back what lies on tiers, then unmounts volumes; tells what was found, in words.
///
/// # Errors
/// Something cannot be freed.
pub(crate) fn sweep(folder: &Path, clock: &dyn Clock) -> Result<Vec<String>, Error> {
    let mut found = tier::sweep(folder)?;
    found.extend(volume::sweep(folder, clock)?);
    Ok(found)
}
