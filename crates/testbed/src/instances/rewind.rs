//! Puts a stopped instance back behind the one that took its place, by the engine's own program. What lies in the data folder and is no data
//! is kept out of its way.

use super::create::run;
use super::secrets::{SecretFiles, write_secret};
use super::start::lead;
use super::user::{User, give_to_server};
use crate::host::InstanceRemains;
use proofload_engine::{Rewind, ServerRecipe};
use proofload_model::error::Error;
use proofload_model::time::Clock;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Folder beside the data in which the program works.
const WORK: &str = "rewind";

/// Rewinds the instance in `data`, which is stopped.
///
/// # Errors
/// The program cannot be run, or ended with an error, with the end of its output.
pub(crate) fn rewind(
    recipe: &dyn ServerRecipe,
    how: &Rewind,
    data: &Path,
    clock: &dyn Clock,
    remains: &InstanceRemains,
) -> Result<(), Error> {
    let folder = data.with_file_name(WORK);
    fs::create_dir_all(&folder)
        .map_err(|error| Error::new(format!("failed to create {}: {error}", folder.display())))?;
    give_to_server(recipe, &[&folder])?;
    lead(&folder, &how.links)?;
    let user = User::for_server(recipe.unprivileged_users())?;
    let passwords = rewind_passwords(data);
    let _until_it_is_done = SecretFiles::one(passwords.clone());
    how.password.as_ref().map_or(Ok(()), |content| write_secret(&passwords, content, user.as_ref()))?;
    let log = KeptLog::of(data, recipe)?;
    let output = data.with_file_name("rewind.log");
    let done = run(&how.command, &folder, &output, user.as_ref(), clock, (remains, Duration::MAX));
    log.put_back()?;
    done.map_err(|error| error.context(format!("failed to rewind the instance in {}", data.display())))?;
    how.others.iter().try_for_each(|name| remove(&data.join(name)))
}

/// File with the password by which the instance in `data` is rewound, where it takes one.
pub(crate) fn rewind_passwords(data: &Path) -> PathBuf {
    data.with_file_name(WORK).join("passwords")
}

/// Removes links of these names from a folder.
///
/// # Errors
/// A link is there and cannot be removed.
pub(crate) fn unlead(folder: &Path, names: &[&str]) -> Result<(), Error> {
    names.iter().try_for_each(|name| remove(&folder.join(name)))
}

fn remove(path: &Path) -> Result<(), Error> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Error::new(format!("failed to remove {}: {error}", path.display())))
        }
        _ => Ok(()),
    }
}

/// The server's log, outside of the data folder while that is made like the other instance's.
struct KeptLog {
    inside: PathBuf,
    outside: PathBuf,
}

impl KeptLog {
    fn of(data: &Path, recipe: &dyn ServerRecipe) -> Result<Self, Error> {
        let kept = Self { inside: data.join(recipe.log_file()), outside: data.with_file_name("server.log.kept") };
        kept.moved(&kept.inside, &kept.outside)?;
        Ok(kept)
    }

    fn put_back(&self) -> Result<(), Error> {
        self.moved(&self.outside, &self.inside)
    }

    fn moved(&self, from: &Path, to: &Path) -> Result<(), Error> {
        match fs::rename(from, to) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(Error::new(format!("failed to keep the server's log {}: {error}", self.inside.display())))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_that_is_there_goes() {
        let folder = tempfile::tempdir().expect("a folder");
        unlead(folder.path(), &["upstream"]).expect("nothing is there");
        lead(folder.path(), &[(PathBuf::from("upstream"), PathBuf::from("/tmp"))]).expect("a link");
        unlead(folder.path(), &["upstream"]).expect("removed");
        assert!(folder.path().join("upstream").symlink_metadata().is_err());
    }
}
