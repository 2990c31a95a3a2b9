//! Frees what earlier, killed processes of ours left: control groups with what lives in them, servers on our data, drafts of copies.

use crate::faults;
use crate::instances;
use crate::limits;
use crate::managers;
use crate::preconditioning;
use crate::snapshots;
use crate::storages;
use crate::sys;
use proofload_engine::ENGINES;
use proofload_model::error::Error;
use proofload_model::time::Clock;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// SIGQUIT: servers take it as an order to end at once.
const AT_ONCE: i32 = 3;
const KILL: i32 = 9;

/// How long a server may take to end at once, and then to die.
const PATIENCE: Duration = Duration::from_secs(10);

/// Sweeps a study's folder and the folders of data below it; answers with what was found, in words.
pub(super) fn sweep(folder: &Path, clock: &dyn Clock) -> Result<Vec<String>, Error> {
    let mut found = Vec::new();
    let (removed, kept) = limits::orphans();
    found.extend(removed.iter().map(|group| format!("removed control group {} of a dead process", group.display())));
    if let Some(group) = kept.first() {
        let text = format!(
            "control group {} of a dead process cannot be removed: its processes cannot be killed",
            group.display()
        );
        return Err(Error::new(text));
    }
    // All managers before the first server, which they would start again.
    for process in places(folder).iter().flat_map(|place| sys::working_below(&managers::folder(place))) {
        sys::signal(process, KILL);
        if !has_ended(process, clock) {
            return Err(Error::new(format!("process {process} of a failover manager cannot be killed")));
        }
        found.push(format!("ended process {process}, left by a failover manager"));
    }
    for place in places(folder) {
        let data = snapshots::data_folder(&place);
        if let Some(pid) = served_by(&data) {
            end(pid, clock)?;
            found.push(format!("ended process {pid}, a server left running on {}", data.display()));
        }
        for file in faults::left_files(&data) {
            let removed = std::fs::remove_file(&file);
            removed.map_err(|error| Error::new(format!("failed to remove {}: {error}", file.display())))?;
            found.push(format!("removed {}, left by a fault", file.display()));
        }
        // After the ballast, which leaves no room for that. What cannot be freed harms nobody at once, and must not keep a study from
        // running.
        found.extend(instances::freed_after_kill(&data, clock));
        preconditioning::sweep(&place)?;
        found.extend(snapshots::remove_drafts(&place)?.into_iter().map(|draft| format!("removed {}", draft.display())));
    }
    found.extend(storages::sweep(folder, clock)?);
    Ok(found)
}

/// The folder and those directly below it, as far as they are ours.
fn places(folder: &Path) -> Vec<PathBuf> {
    let below = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    std::iter::once(folder.to_owned()).chain(below).filter(|place| snapshots::is_ours(place)).collect()
}

/// First process of the server that works on a data folder.
pub(crate) fn served_by(data: &Path) -> Option<u32> {
    let known = ENGINES.iter().filter_map(|engine| engine.server()?.running_pid(data));
    known.into_iter().find(|process| is_server_of(*process, data))
}

/// Kills a manager's processes beside a data folder, which outlive its first one, and then the server that they would start again.
pub(crate) fn kill_managed(data: &Path) {
    let manager = data.parent().map(managers::folder);
    for process in manager.iter().flat_map(|folder| sys::working_below(folder)) {
        sys::signal(process, KILL);
    }
    for process in served_by(data).into_iter().flat_map(sys::descendants) {
        sys::signal(process, KILL);
    }
}

/// Whether the process lives and works in the data folder. A number alone may belong to another process by now.
pub(crate) fn is_server_of(process: u32, data: &Path) -> bool {
    let works_in = sys::folder_of(process);
    sys::is_running(process) && works_in.is_some_and(|folder| Some(folder) == std::fs::canonicalize(data).ok())
}

/// Ends a server that is not our child: by its order to end at once, then by force with all its processes.
fn end(process: u32, clock: &dyn Clock) -> Result<(), Error> {
    // One that a drill has frozen takes no order.
    if !sys::is_stopped(process) {
        sys::signal(process, AT_ONCE);
        if has_ended(process, clock) {
            return Ok(());
        }
    }
    for each in sys::descendants(process) {
        sys::signal(each, KILL);
    }
    if has_ended(process, clock) { Ok(()) } else { Err(Error::new(format!("process {process} cannot be killed"))) }
}

fn has_ended(process: u32, clock: &dyn Clock) -> bool {
    let begun = clock.now();
    while sys::is_running(process) {
        if clock.now().since(begun) > PATIENCE {
            return false;
        }
        clock.sleep(Duration::from_millis(20));
    }
    true
}
