//! Frees what a killed server has left in the kernel, by the engine's own command. May not touch its data.

use super::create::run;
use super::user::User;
use crate::agents::EventSink;
use crate::host::InstanceRemains;
use crate::sys;
use proofload_engine::{AfterKill, ENGINES, ServerRecipe, SharedSegment};
use proofload_model::error::Error;
use proofload_model::log_level::LogLevel;
use proofload_model::time::Clock;
use proofload_model::wire::Event;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::Duration;

/// How long the command may take; it reads the settings and little else.
const WITHIN: Duration = Duration::from_secs(20);

/// How long the last processes of a killed server may take to end.
const DYING: Duration = Duration::from_secs(10);

const GLANCE: Duration = Duration::from_millis(10);

/// Name of the lock file beside the data folder, while the command runs: who dies meanwhile leaves it to the next.
const KEPT: &str = "after-kill.pid";

/// Frees it where the data folder says that a server runs and, as soon as its last process has ended, none does; tells whether there was something
/// to do.
///
/// Not between a crash and the start that follows it: that frees the same, and would wait.
///
/// # Errors
/// The command cannot be run, takes longer than 20 s, or ended with an error, with the end of its output.
pub(crate) fn free_after_kill(data: &Path, clock: &dyn Clock) -> Result<bool, Error> {
    // The command works in the folder and is told it.
    let Ok(data) = std::path::absolute(data) else { return Ok(false) };
    let data = data.as_path();
    for recipe in ENGINES.iter().filter_map(|engine| engine.server()) {
        if recipe.running_pid(data).is_none() && !data.with_file_name(KEPT).exists() {
            continue;
        }
        if let Some(after) = recipe.after_kill(data)?.filter(|_| is_left(data, clock)) {
            let after = taken_up(recipe, after, data)?;
            if !data.join(&after.lock_file).exists() {
                // Another has freed it while this waited.
                continue;
            }
            let freed = free(recipe, &after, data, clock);
            // The command takes it for that of other data once their file system is mounted from another device, and cannot run where
            // there is no room.
            let left = |segment: Option<SharedSegment>| segment.map_or(Ok(()), |segment| remove(segment, data));
            // A command that was ended leaves one of its own.
            let own = recipe.after_kill(data).ok().flatten().and_then(|ended| ended.segment);
            freed.and(left(after.segment)).and(left(own)).map_err(|error| {
                error.context(format!("failed to free what a killed server left in the kernel: {}", data.display()))
            })?;
            return Ok(true);
        }
    }
    Ok(false)
}

/// The same; what cannot be freed is a warning.
pub(crate) fn free_after_kill_or_warn(data: &Path, clock: &dyn Clock, events: &EventSink) {
    if let Err(error) = free_after_kill(data, clock) {
        events(Event::Log { level: LogLevel::Warning, text: error.to_string() });
    }
}

/// The same, in words; `None` where there was nothing to do.
pub(crate) fn freed_after_kill(data: &Path, clock: &dyn Clock) -> Option<String> {
    match free_after_kill(data, clock) {
        Ok(false) => None,
        Ok(true) => Some(format!("freed what a killed server left in the kernel, on {}", data.display())),
        Err(error) => Some(error.to_string()),
    }
}

/// Waits until no process works in the folder.
fn is_left(data: &Path, clock: &dyn Clock) -> bool {
    let begun = clock.now();
    loop {
        match sys::working_below(data).is_empty() {
            false if clock.now().since(begun) < DYING => clock.sleep(GLANCE),
            left => return left,
        }
    }
}

/// Puts the lock file back where somebody died who had begun to free. A command that came as far as a segment of its own has freed
/// that of the server before.
fn taken_up(recipe: &dyn ServerRecipe, after: AfterKill, data: &Path) -> Result<AfterKill, Error> {
    let kept = data.with_file_name(KEPT);
    if after.segment.is_some() || std::fs::rename(kept, data.join(&after.lock_file)).is_err() {
        return Ok(after);
    }
    Ok(recipe.after_kill(data)?.unwrap_or(after))
}

fn free(recipe: &dyn ServerRecipe, after: &AfterKill, data: &Path, clock: &dyn Clock) -> Result<(), Error> {
    let (lock_file, kept) = (data.join(&after.lock_file), data.with_file_name(KEPT));
    let user = User::for_server(recipe.unprivileged_users())?;
    let moved = std::fs::rename(&lock_file, &kept);
    moved.map_err(|error| Error::new(format!("failed to move {}: {error}", lock_file.display())))?;
    // Nobody frees it from outside: it ends by itself.
    let remains = InstanceRemains::default();
    let output = data.with_file_name("after-kill.log");
    let done = run(&after.command, data, &output, user.as_ref(), clock, (&remains, WITHIN));
    let removed = std::fs::remove_file(&kept);
    done.and(removed.map_err(|error| Error::new(format!("failed to remove {}: {error}", kept.display()))))
}

/// Removes a segment where it still is the one that the server made, whose user owns the folder. One that is attached stays.
fn remove(segment: SharedSegment, data: &Path) -> Result<(), Error> {
    let owner = std::fs::metadata(data).ok().map(|found| found.uid());
    let is_it = |found: &sys::ListedSegment| {
        (found.key, found.creator) == (segment.key, segment.creator) && Some(found.user) == owner
    };
    match sys::listed_segment(segment.id).filter(is_it) {
        Some(found) if found.attached > 0 => {
            Err(Error::new(format!("the segment {} of shared memory is still attached by another process", segment.id)))
        }
        Some(_) => sys::remove_segment(segment.id),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofload_model::time::{Moment, WallTime};
    use std::path::PathBuf;
    use std::process::{Child, Command};
    use std::sync::Mutex;

    /// A clock in whose sleep the last process of a server ends and another frees what it left.
    struct Freeing {
        lock_file: PathBuf,
        last: Mutex<Child>,
    }

    impl Clock for Freeing {
        fn now(&self) -> Moment {
            Moment(0)
        }
        fn wall(&self) -> WallTime {
            WallTime(0)
        }
        fn sleep(&self, _time: Duration) {
            let _freed_before = std::fs::remove_file(&self.lock_file);
            let mut last = self.last.lock().unwrap();
            last.kill().unwrap();
            last.wait().unwrap();
        }
    }

    #[test]
    fn what_another_frees_while_the_last_process_is_waited_for_is_no_failure() {
        let study = tempfile::tempdir().unwrap();
        let data = study.path().join("data");
        std::fs::create_dir(&data).unwrap();
        let lock_file = data.join("postmaster.pid");
        let told = "2000000000\n/data\n1764500000\n5432\n/data/pg_stat_tmp\n\n       12 2000000000\nready   \n";
        std::fs::write(&lock_file, told).unwrap();
        let fails =
            |recipe: &dyn ServerRecipe| recipe.running_pid(&data).is_some() && recipe.after_kill(&data).is_err();
        if ENGINES.iter().filter_map(|engine| engine.server()).any(fails) {
            println!("SKIPPED: the engine whose lock file this is is not installed");
            return;
        }
        let last = Command::new("sleep").arg("600").current_dir(&data).spawn().unwrap();
        let clock = Freeing { lock_file, last: Mutex::new(last) };
        assert!(!free_after_kill(&data, &clock).unwrap());
        assert!(sys::working_below(&data).is_empty(), "it was waited for");
    }

    /// A segment of ours that nobody attaches, as of a server that was killed; `None` where it cannot be made.
    fn left() -> Option<SharedSegment> {
        let made = Command::new("ipcmk").args(["-M", "4096"]).output().ok().filter(|made| made.status.success())?;
        let id = String::from_utf8_lossy(&made.stdout).split_ascii_whitespace().last()?.parse().ok()?;
        let found = sys::listed_segment(id)?;
        Some(SharedSegment { id, key: found.key, creator: found.creator })
    }

    /// The file is that of a check which was killed with the agent that had begun to free.
    #[test]
    fn a_segment_goes_that_a_killed_command_left_of_its_own() {
        let study = tempfile::tempdir().unwrap();
        let data = study.path().join("data");
        std::fs::create_dir(&data).unwrap();
        let fails = |recipe: &dyn ServerRecipe| recipe.after_kill(&data).is_err();
        let (true, Some(segment)) = (!ENGINES.iter().filter_map(|engine| engine.server()).any(fails), left()) else {
            println!("SKIPPED: PostgreSQL is not installed, or ipcmk cannot make a segment of shared memory here");
            return;
        };
        let SharedSegment { id, key, creator } = segment;
        let told = format!("-{creator}\n/data\n1764500000\n5432\n\n\n {} {id}\n", key.cast_unsigned());
        std::fs::write(data.join("postmaster.pid"), told).unwrap();
        std::fs::write(study.path().join(KEPT), "2000000000\n").unwrap();
        let clock = crate::test_clock::TestClock::new();
        // The check fails, since these are no data.
        assert!(free_after_kill(&data, &clock).is_err());
        assert!(sys::listed_segment(id).is_none());
    }

    #[test]
    fn a_segment_goes_where_it_is_that_of_the_killed_server_and_of_its_user() {
        let Some(segment) = left() else {
            println!("SKIPPED: ipcmk cannot make a segment of shared memory here");
            return;
        };
        let data = tempfile::tempdir().unwrap();
        let is_there = || sys::listed_segment(segment.id).is_some();
        remove(SharedSegment { creator: segment.creator + 1, ..segment }, data.path()).unwrap();
        assert!(is_there(), "another process made it");
        remove(SharedSegment { key: segment.key ^ 1, ..segment }, data.path()).unwrap();
        assert!(is_there(), "it is another one of this number");
        if sys::is_root() {
            sys::set_owner(data.path(), 65534, 65534).unwrap();
            remove(segment, data.path()).unwrap();
            assert!(is_there(), "another user made it");
            sys::set_owner(data.path(), 0, 0).unwrap();
        }
        remove(segment, data.path()).unwrap();
        assert!(!is_there());
        remove(segment, data.path()).unwrap();
    }
}
