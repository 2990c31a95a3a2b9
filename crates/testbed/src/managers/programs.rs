//! Finds the programs of a manager on this host, and services of its package that are in the way. May not start anything.

use proofload_model::error::Error;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// A program that a manager needs, and the package that has it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NeededProgram {
    pub(crate) name: &'static str,
    pub(crate) package: &'static str,
}

/// Folders in which packages put programs that may not be on the path of an agent.
const USUAL: &[&str] = &["/usr/bin", "/usr/local/bin", "/usr/sbin", "/usr/local/sbin"];

/// The first program of a name on the path or in the usual folders.
pub(crate) fn find(program: NeededProgram) -> Result<PathBuf, Error> {
    let on_path = std::env::var_os("PATH").map(|path| std::env::split_paths(&path).collect::<Vec<_>>());
    let folders = on_path.into_iter().flatten().chain(USUAL.iter().map(PathBuf::from));
    let found = folders.map(|folder| folder.join(program.name)).find(|path| is_program(path));
    found.ok_or_else(|| {
        Error::refused(format!(
            "{} is not installed on this host: install its package (Debian, Ubuntu: apt-get install {})",
            program.name, program.package
        ))
    })
}

fn is_program(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

/// Refuses while a service of one of these names runs. Source: systemd puts the processes of a service into a control group of its name.
pub(crate) fn refuse_services(names: &[&str]) -> Result<(), Error> {
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Ok(groups) = std::fs::read_to_string(entry.path().join("cgroup")) else { continue };
        if let Some(name) = names.iter().find(|name| is_of_service(&groups, name)) {
            let process = entry.file_name().to_string_lossy().into_owned();
            return Err(Error::refused(format!(
                "the package's service {name} runs on this host (process {process}); stop it: systemctl disable --now {name}"
            )));
        }
    }
    Ok(())
}

/// Whether the list of a process's groups has that of a service, or of an instance of it.
fn is_of_service(groups: &str, service: &str) -> bool {
    groups.lines().filter_map(|line| line.rsplit(':').next()).flat_map(|path| path.split('/')).any(|part| {
        let name = part.strip_suffix(".service").map(|name| name.split('@').next().unwrap_or(name));
        name == Some(service)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_program_is_told_with_its_package() {
        let error = find(NeededProgram { name: "no-such-program", package: "its-package" }).unwrap_err().to_string();
        assert!(
            error.contains("no-such-program is not installed") && error.contains("apt-get install its-package"),
            "{error}"
        );
        assert!(find(NeededProgram { name: "sh", package: "dash" }).is_ok());
    }

    #[test]
    fn a_service_is_told_by_the_group_of_its_processes() {
        assert!(is_of_service("0::/system.slice/etcd.service\n", "etcd"));
        assert!(is_of_service("3:cpu:/system.slice/system-patroni.slice/patroni@15-main.service\n", "patroni"));
        assert!(!is_of_service("0::/user.slice/session-1.scope/etcd\n", "etcd"));
        assert!(!is_of_service("0::/system.slice/etcdkeeper.service\n", "etcd"));
    }
}
