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
    let list = plan.cache.warming().map(|warm| Path::new(&warm.list));
    let missing: Vec<&str> = [
        (cfg!(feature = "fuse"), "this program was built without FUSE; build it with its default features"),
        (sys::is_root(), "mounting file systems needs root; run as root"),
        (Path::new("/dev/fuse").exists(), "/dev/fuse does not exist; load the kernel module fuse"),
        (Path::new("/dev/loop-control").exists(), "/dev/loop-control does not exist; load the kernel module loop"),
        (
            folder.is_none_or(|folder| Path::new(folder).is_dir()),
            "the folder of storage.cache.path does not exist; create it",
        ),
        (
            list.is_none_or(Path::is_file),
            "the list of storage.cache.warm is no file on this host; write one with `proofload tier dump CACHE --lines \
             --json`",
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

#[cfg(test)]
mod tests {
    use super::*;
    use proofload_model::settings::{Settings, Value};
    use proofload_model::tier::{TIER, tier_plan};
    use proofload_model::tier_warming::WARM;

    #[test]
    fn a_list_that_is_missing_is_told_before_anything_is_built() {
        let folder = tempfile::tempdir().expect("a folder");
        let list = folder.path().join("list");
        let plan = |size: i64| {
            let given = [
                ("storage.kind", Value::Text(TIER.to_owned())),
                ("storage.cache.percent", Value::Integer(size)),
                (WARM, Value::Text(list.display().to_string())),
            ];
            let given = given.into_iter().map(|(path, value)| (path.to_owned(), value)).collect();
            tier_plan(&Settings(given)).expect("words").expect("a tier")
        };
        // What else this host lacks is told beside it.
        let is_told = |size: i64| needs(&plan(size)).is_err_and(|error| error.to_string().contains(WARM));
        assert!(is_told(30));
        assert!(!is_told(0), "no cache needs no list");
        std::fs::write(&list, "").expect("writes");
        assert!(!is_told(30));
    }
}
