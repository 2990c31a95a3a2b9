//! Removes control groups whose owner died without lifting them, and kills what lived in them.

use super::applied::lift_stalls;
use super::cgroup::Cgroup;
use super::cgroup_dir::{CgroupDir, is_orphan};
use super::hierarchy::Hierarchy;
use std::path::{Path, PathBuf};

/// How deep below the mount point groups of ours are looked for.
const DEPTH: u32 = 8;

/// Sweeps every tree; answers with the folders of the groups removed and of those that would not go.
pub(crate) fn orphans() -> (Vec<PathBuf>, Vec<PathBuf>) {
    let (mut removed, mut kept) = (Vec::new(), Vec::new());
    for hierarchy in Hierarchy::all() {
        let mut found = Vec::new();
        walk(&hierarchy.root, DEPTH, &mut found);
        for folder in found {
            let group = Cgroup::from(CgroupDir::existing(hierarchy.clone(), folder.clone()));
            lift_stalls(&group);
            let gone = group.kill_members(&[]) && group.dissolve();
            if gone { removed.push(folder) } else { kept.push(folder) }
        }
    }
    (removed, kept)
}

fn walk(folder: &Path, depth: u32, found: &mut Vec<PathBuf>) {
    let folders = std::fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in folders.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())) {
        if is_orphan(&entry.file_name().to_string_lossy()) {
            found.push(entry.path());
        } else if depth > 0 {
            walk(&entry.path(), depth - 1, found);
        }
    }
}
