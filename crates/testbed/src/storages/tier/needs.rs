//! What a served tier needs of a host. May not start anything.

use crate::sys;
use proofload_engine::tiers::check_list;
use proofload_model::error::Error;
use proofload_model::tier::TierPlan;
use std::path::Path;

/// Tells all that is missing for a tier under a server, or what is wrong with the list that its cache is filled from.
///
/// # Errors
/// Something is missing, or the list is none.
pub(crate) fn needs_and_list(plan: &TierPlan) -> Result<(), Error> {
    let list = check_list(plan).map_err(|fault| Error::refused(fault.to_string()));
    match (needs(plan), list) {
        (Err(missing), Err(fault)) => Err(Error::refused(format!("{missing}; {fault}"))),
        (needs, list) => needs.and(list),
    }
}

/// Tells all that is missing for a tier under a server, and whether the list of its cache is there. What is in the list is read before data
/// are built, and again when the cache is filled: it may have millions of lines.
///
/// # Errors
/// Something is missing.
pub(crate) fn needs_and_file(plan: &TierPlan) -> Result<(), Error> {
    let is_there = plan.cache.warming().is_none_or(|warm| Path::new(&warm.list).is_file());
    if is_there { needs(plan) } else { needs_and_list(plan) }
}

/// Tells all that is missing for a tier under a server.
///
/// # Errors
/// Something is missing.
pub(super) fn needs(plan: &TierPlan) -> Result<(), Error> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use proofload_model::settings::{Settings, Value};
    use proofload_model::tier::{TIER, tier_plan};
    use proofload_model::tier_warming::WARM;

    #[test]
    fn a_list_that_is_missing_or_none_is_told_before_anything_is_built() {
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
        let told = |size: i64| needs_and_list(&plan(size)).err().map(|error| error.to_string()).unwrap_or_default();
        let (missing, place) = (told(30), list.display().to_string());
        assert!(missing.contains(WARM) && missing.contains(&place) && missing.contains("check the path"), "{missing}");
        let looked = || needs_and_file(&plan(30)).err().map(|error| error.to_string()).unwrap_or_default();
        assert_eq!(looked(), missing, "a look at the file is enough to miss it");
        assert!(!told(0).contains(WARM), "no cache needs no list");
        let head = "{\"form\":1,\"volumes\":[]}\n";
        std::fs::write(&list, format!("{head}lines\n")).expect("writes");
        assert!(told(30).contains("line 2: it is no JSON object"), "{}", told(30));
        assert!(!looked().contains(WARM), "it is not read: {}", looked());
        std::fs::write(&list, format!("{head}{{\"volume\":0,\"at\":0}}\n")).expect("writes");
        assert!(!told(30).contains(WARM), "{}", told(30));
    }
}
