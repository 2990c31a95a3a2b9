//! Runs an engine's commands beside a server, as the user that runs it: those that make an empty instance, and others.

use super::log::Log;
use super::user::User;
use crate::host::InstanceRemains;
use crate::sys::{self, Spawn};
use proofload_engine::{CommandLine, ServerRecipe};
use proofload_model::error::Error;
use proofload_model::time::Clock;
use std::path::Path;
use std::time::Duration;

const KILL: i32 = 9;

/// Makes the instance in `data`, an empty folder that exists.
pub(crate) fn create(
    recipe: &dyn ServerRecipe,
    data: &Path,
    clock: &dyn Clock,
    remains: &InstanceRemains,
) -> Result<(), Error> {
    fill(recipe, &recipe.create(data)?, data, clock, remains)
}

/// The same by these commands, as the user that runs the server.
pub(crate) fn fill(
    recipe: &dyn ServerRecipe,
    commands: &[CommandLine],
    data: &Path,
    clock: &dyn Clock,
    remains: &InstanceRemains,
) -> Result<(), Error> {
    let user = User::for_server(recipe.unprivileged_users())?;
    if let Some(user) = &user {
        user.can_reach(data)?;
        user.own(data)?;
    }
    let private = std::os::unix::fs::PermissionsExt::from_mode(0o700);
    std::fs::set_permissions(data, private)
        .map_err(|error| Error::new(format!("failed to restrict access to {}: {error}", data.display())))?;
    for command in commands {
        run(command, data, &data.with_file_name("create.log"), user.as_ref(), clock, (remains, Duration::MAX))
            .map_err(|error| error.context(format!("failed to create an instance in {}", data.display())))?;
    }
    Ok(())
}

/// Runs one command in a folder to its end, within a time; its output goes to a file elsewhere, since a data folder must stay as it is.
pub(super) fn run(
    command: &CommandLine,
    folder: &Path,
    output: &Path,
    user: Option<&User>,
    clock: &dyn Clock,
    (remains, within): (&InstanceRemains, Duration),
) -> Result<(), Error> {
    let begun = clock.now();
    let (log, file) = Log::open(output, None)?;
    let mut child = sys::spawn(Spawn {
        program: &command.program,
        arguments: &command.arguments,
        environment: &command.environment,
        folder,
        log: &file,
        groups: Vec::new(),
        cores: None,
        user: user.map(|user| (user.user, user.group)),
        at_our_death: KILL,
    })?;
    remains.set_server(Some(child.id()));
    let ended = loop {
        match child.try_wait() {
            Ok(None) if !remains.is_abandoned() && clock.now().since(begun) <= within => {
                clock.sleep(Duration::from_millis(10))
            }
            Ok(None) => {
                let _gone = child.kill();
            }
            Ok(Some(status)) => break Ok(status),
            Err(error) => break Err(Error::new(format!("failed to wait for {}: {error}", command.program.display()))),
        }
    };
    remains.set_server(None);
    match ended? {
        status if status.success() => Ok(()),
        status => Err(Error::new(format!("{} ended with {status}; {}", command.program.display(), log.tail()))),
    }
}
