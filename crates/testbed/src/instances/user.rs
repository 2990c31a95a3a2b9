//! The user that servers run as: ourselves, or an unprivileged one where the server refuses root.

use crate::sys;
use proofload_engine::ServerRecipe;
use proofload_model::error::Error;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// An account of this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct User {
    pub(crate) name: String,
    pub(crate) user: u32,
    pub(crate) group: u32,
}

/// Gives files and folders to the user that a server runs as, and to nobody else.
pub(crate) fn give_to_server(recipe: &dyn ServerRecipe, paths: &[&Path]) -> Result<(), Error> {
    let user = User::for_server(recipe.unprivileged_users())?;
    for path in paths {
        let alone = std::os::unix::fs::PermissionsExt::from_mode(0o700);
        let closed = std::fs::set_permissions(path, alone);
        closed.map_err(|error| Error::new(format!("failed to restrict access to {}: {error}", path.display())))?;
        user.as_ref().map_or(Ok(()), |user| user.own(path))?;
    }
    Ok(())
}

impl User {
    /// The user to become; `None` when we run servers as ourselves.
    pub(crate) fn for_server(candidates: &[&str]) -> Result<Option<Self>, Error> {
        let Some(best) = candidates.first().filter(|_| sys::is_root()) else { return Ok(None) };
        let accounts = std::fs::read_to_string("/etc/passwd")
            .map_err(|error| Error::new(format!("failed to read /etc/passwd for an unprivileged user: {error}")))?;
        find(&accounts, candidates).map(Some).ok_or_else(|| {
            Error::new(format!(
                "the server refuses to run as root and the user {} does not exist; create it: useradd --system {best}",
                candidates.join(" or ")
            ))
        })
    }

    /// Its number and that of its group.
    pub(crate) fn numbers(&self) -> (u32, u32) {
        (self.user, self.group)
    }

    /// Gives a file or folder to the user.
    pub(crate) fn own(&self, path: &Path) -> Result<(), Error> {
        sys::set_owner(path, self.user, self.group)
    }

    /// Fails when the user cannot pass one of the folders above `path`, naming the folder and the remedy.
    pub(crate) fn can_reach(&self, path: &Path) -> Result<(), Error> {
        for folder in path.ancestors().skip(1) {
            let found = std::fs::metadata(folder)
                .map_err(|error| Error::new(format!("failed to inspect {}: {error}", folder.display())))?;
            if !self.may_pass(found.mode(), found.uid(), found.gid()) {
                return Err(Error::new(format!(
                    "the server's user {} cannot enter {} (mode {:o}); run chmod o+x {} or choose another storage.path",
                    self.name,
                    folder.display(),
                    found.mode() & 0o7777,
                    folder.display()
                )));
            }
        }
        Ok(())
    }

    const fn may_pass(&self, mode: u32, owner: u32, group: u32) -> bool {
        let shift = if owner == self.user {
            6
        } else if group == self.group {
            3
        } else {
            0
        };
        mode >> shift & 1 == 1
    }
}

/// The first candidate with an account. Format: passwd(5).
fn find(accounts: &str, candidates: &[&str]) -> Option<User> {
    candidates.iter().find_map(|name| {
        let line = accounts.lines().find(|line| line.split(':').next() == Some(name))?;
        let mut fields = line.split(':').skip(2);
        Some(User { name: (*name).to_owned(), user: fields.next()?.parse().ok()?, group: fields.next()?.parse().ok()? })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_account_is_chosen() {
        let find = |accounts: &str| find(accounts, &["postgres", "nobody"]);
        let nobody = "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534::/:/usr/sbin/nologin\n"; // tidy: quoted
        assert_eq!(find(nobody).map(|user| (user.name, user.user)), Some(("nobody".to_owned(), 65534)));
        let both = format!("{nobody}postgres:x:101:104:,,,:/var/lib/postgresql:/bin/bash\n");
        assert_eq!(find(&both), Some(User { name: "postgres".to_owned(), user: 101, group: 104 }));
        assert_eq!(find("root:x:0:0:root:/:/bin/sh\n"), None);
    }

    #[test]
    fn a_folder_that_cannot_be_passed_is_named() {
        let user = User { name: "nobody".to_owned(), user: 65534, group: 65534 };
        for (mode, owner, group, may) in [
            (0o755, 0, 0, true),
            (0o700, 0, 0, false),
            (0o700, 65534, 0, true),
            (0o710, 0, 65534, true),
            (0o701, 0, 65534, false),
        ] {
            assert_eq!(user.may_pass(mode, owner, group), may, "{mode:o} {owner} {group}");
        }
        let closed = tempfile::tempdir().unwrap();
        let shut = std::os::unix::fs::PermissionsExt::from_mode(0o700);
        std::fs::set_permissions(closed.path(), shut).unwrap();
        let error = user.can_reach(&closed.path().join("study/data")).unwrap_err().to_string();
        assert!(error.contains("failed to inspect"), "a missing folder is told: {error}");
        let error = user.can_reach(&closed.path().join("data")).unwrap_err().to_string();
        let expected = format!("cannot enter {} (mode 700); run chmod o+x", closed.path().display());
        assert!(error.contains(&expected), "{error}");
    }
}
