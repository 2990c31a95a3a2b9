//! Frees what a killed server has left in the kernel, by the engine's own command. May not touch its data.

use super::create::run;
use super::user::User;
use crate::agents::EventSink;
use crate::host::InstanceRemains;
use crate::sys;
use proofload_engine::{AfterKill, ENGINES, ServerRecipe};
use proofload_model::error::Error;
use proofload_model::time::Clock;
use proofload_model::wire::Event;
use std::path::Path;
use std::time::Duration;

/// How long the command may take; it reads the settings and little else.
const WITHIN: Duration = Duration::from_secs(20);

/// How long the last processes of a killed server may take to end.
const DYING: Duration = Duration::from_secs(10);

const GLANCE: Duration = Duration::from_millis(10);

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
        if recipe.running_pid(data).is_none() {
            continue;
        }
        if let Some(after) = recipe.after_kill(data)?.filter(|_| is_left(data, clock)) {
            free(recipe, &after, data, clock).map_err(|error| {
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
        events(Event::Log { level: "warning".to_owned(), text: error.to_string() });
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

fn free(recipe: &dyn ServerRecipe, after: &AfterKill, data: &Path, clock: &dyn Clock) -> Result<(), Error> {
    let lock_file = data.join(&after.lock_file);
    let removed = std::fs::remove_file(&lock_file);
    removed.map_err(|error| Error::new(format!("failed to remove {}: {error}", lock_file.display())))?;
    let user = User::for_server(recipe.unprivileged_users())?;
    // Nobody frees it from outside: it ends by itself.
    let remains = InstanceRemains::default();
    run(&after.command, data, &data.with_file_name("after-kill.log"), user.as_ref(), clock, (&remains, WITHIN))
}
