//! Removes control groups whose owner died without lifting them, and kills what lived in them.

use super::applied::lift_stalls;
use super::cgroup::Cgroup;
use super::cgroup_dir::{CgroupDir, is_orphan};
use super::freezer;
use super::hierarchy::Hierarchy;
use std::path::{Path, PathBuf};

/// How deep below the mount point groups of ours are looked for.
const DEPTH: u32 = 8;

/// Sweeps every tree; answers with the folders of the groups removed and of those that would not go.
pub(crate) fn orphans() -> (Vec<PathBuf>, Vec<PathBuf>) {
    let mut dirs = Vec::new();
    for hierarchy in Hierarchy::all() {
        let mut found = Vec::new();
        walk(&hierarchy.root, DEPTH, &mut found);
        dirs.extend(found.into_iter().map(|folder| CgroupDir::existing(hierarchy.clone(), folder)));
    }
    // What a drill has halted in one tree ends in none.
    dirs.iter().for_each(freezer::end_halted);
    let (mut removed, mut kept) = (Vec::new(), Vec::new());
    for dir in dirs {
        let folder = dir.folder().to_owned();
        let group = Cgroup::from(dir);
        lift_stalls(&group);
        let gone = group.kill_members(&[]) && group.dissolve();
        if gone { removed.push(folder) } else { kept.push(folder) }
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
