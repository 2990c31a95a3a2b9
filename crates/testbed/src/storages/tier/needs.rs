//! What a served tier needs of a host. May not start anything.

use crate::sys;
use proofload_model::error::Error;
use proofload_model::tier::TierPlan;
use std::path::Path;

/// Tells all that is missing for a tier under a server.
///
/// # Errors
/// Something is missing.
pub(crate) fn needs(plan: &TierPlan) -> Result<(), Error> {
    let folder = plan.cache.folder.as_deref();
    let missing: Vec<&str> = [
        (cfg!(feature = "fuse"), "this program was built without FUSE; build it with its default features"),
        (sys::is_root(), "mounting file systems needs root; run as root"),
        (Path::new("/dev/fuse").exists(), "/dev/fuse does not exist; load the kernel module fuse"),
        (Path::new("/dev/loop-control").exists(), "/dev/loop-control does not exist; load the kernel module loop"),
        (
            folder.is_none_or(|folder| Path::new(folder).is_dir()),
            "the folder of storage.cache.path does not exist; create it",
        ),
    ]
    .into_iter()
    .filter_map(|(there, advice)| (!there).then_some(advice))
    .collect();
    if missing.is_empty() {
        return Ok(());
    }
    let text = format!(
        "failed to serve a cache tier to a server: {}; or use an embedded engine, which does not need this",
        missing.join("; ")
    );
    Err(Error::refused(text))
}
