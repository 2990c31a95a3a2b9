//! Ways to install, each into a folder. A way whose file is not in `dist/`, or whose tools are missing, says that it was skipped.

use super::study::InstalledProgram;
use crate::program::text;
use crate::work_folder::WorkFolder;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The emulator of 64-bit ARM.
const ARM: &str = "qemu-aarch64-static";

/// A way to install.
pub(super) struct InstallationWay {
    pub(super) name: &'static str,
    /// Installs from a folder and runs a study; what was found.
    pub(super) try_it: fn(&Path, &WorkFolder) -> Result<String, String>,
}

/// All ways.
pub(super) const WAYS: &[InstallationWay] = &[
    InstallationWay { name: "Debian package", try_it: debian },
    InstallationWay {
        name: "archive, glibc",
        try_it: |dist, folder| archive(dist, folder, "x86_64-unknown-linux-gnu", None),
    },
    InstallationWay {
        name: "archive, static",
        try_it: |dist, folder| archive(dist, folder, "x86_64-unknown-linux-musl", None),
    },
    InstallationWay {
        name: "archive, static, 64-bit ARM",
        try_it: |dist, folder| archive(dist, folder, "aarch64-unknown-linux-musl", Some(ARM)),
    },
    InstallationWay { name: "Python wheel", try_it: wheel },
];

/// The one file in a folder whose name begins so, goes on with a version, and ends so.
fn file(dist: &Path, begin: &str, end: &str) -> Option<PathBuf> {
    let entries = std::fs::read_dir(dist).into_iter().flatten().flatten().map(|entry| entry.path());
    let is = |path: &PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        // `proofload-pdf-` is another program.
        let version =
            name.strip_prefix(begin).is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()));
        version && name.ends_with(end)
    };
    entries.filter(is).min()
}

fn skipped(what: &str) -> Result<String, String> {
    Ok(format!("SKIPPED: {what}"))
}

/// A dpkg with a root and a database of its own: packages are unpacked, configured and removed as on a machine.
fn dpkg(root: &Path, arguments: &[&str]) -> Result<String, String> {
    let mut command = Command::new("dpkg");
    // Libraries of the machine stand for the dependencies, which this root does not have.
    command.arg(format!("--root={}", root.display())).args(["--force-depends", "--force-not-root", "--no-triggers"]);
    text(command.args(arguments))
}

fn debian(dist: &Path, folder: &WorkFolder) -> Result<String, String> {
    let Some(package) = file(dist, "proofload_", "_amd64.deb") else { return skipped("there is no amd64 package") };
    let root = folder.inner("deb")?;
    for name in ["var/lib/dpkg/updates", "var/lib/dpkg/info", "var/log"] {
        let path = root.join(name);
        std::fs::create_dir_all(&path).map_err(|error| format!("made {}: {error}", path.display()))?;
    }
    for name in ["status", "available"] {
        std::fs::write(root.join("var/lib/dpkg").join(name), "").map_err(|error| format!("wrote {name}: {error}"))?;
    }
    dpkg(&root, &["--install", &package.to_string_lossy()])?;
    let installed =
        InstalledProgram { program: root.join("usr/bin/proofload"), emulator: None, home: folder.inner("deb-home")? };
    let mut found = installed.study()?;
    if let Some(typesetter) = file(dist, "proofload-pdf_", "_amd64.deb") {
        dpkg(&root, &["--install", &typesetter.to_string_lossy()])?;
        found.push_str(&format!(", PDF {} kB", installed.pdf()?));
        dpkg(&root, &["--remove", "proofload-pdf"])?;
    }
    dpkg(&root, &["--remove", "proofload"])?;
    let left = text(Command::new("find").arg(root.join("usr")).args(["-type", "f"])).unwrap_or_default();
    if left.is_empty() { Ok(found + "; removed without a trace") } else { Err(format!("removing it left {left}")) }
}

fn archive(dist: &Path, folder: &WorkFolder, triple: &str, emulator: Option<&'static str>) -> Result<String, String> {
    let Some(packed) = file(dist, "proofload-", &format!("{triple}.tar.gz")) else {
        return skipped(&format!("there is no archive for {triple}"));
    };
    if let Some(program) = emulator.filter(|program| Command::new(program).arg("--version").output().is_err()) {
        return skipped(&format!("{program} is not installed; it is in Debian's package qemu-user-static"));
    }
    let place = folder.inner(triple)?;
    text(Command::new("tar").arg("-xzf").arg(&packed).arg("-C").arg(&place))?;
    let program = text(Command::new("find").arg(&place).args(["-maxdepth", "2", "-name", "proofload"]))?;
    let home = folder.inner(&format!("{triple}-home"))?;
    InstalledProgram { program: PathBuf::from(program), emulator, home }.study()
}

fn wheel(dist: &Path, folder: &WorkFolder) -> Result<String, String> {
    let Some(wheel) = file(dist, "proofload-", "x86_64.whl") else { return skipped("there is no wheel for x86-64") };
    let place = folder.inner("wheel")?;
    if text(Command::new("python3").args(["-m", "venv"]).arg(&place)).is_err() {
        return skipped("python3 -m venv makes no environment; it needs Debian's package python3-venv");
    }
    let pip = || Command::new(place.join("bin/pip"));
    text(pip().args(["install", "--quiet", "--no-index", "--disable-pip-version-check"]).arg(&wheel))?;
    let program = place.join("bin/proofload");
    let found =
        InstalledProgram { program: program.clone(), emulator: None, home: folder.inner("wheel-home")? }.study()?;
    text(pip().args(["uninstall", "--quiet", "--yes", "--disable-pip-version-check", "proofload"]))?;
    if program.exists() { Err(format!("pip left {}", program.display())) } else { Ok(found) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_without_its_file_is_skipped_and_says_so() {
        let folder = WorkFolder::of("installation").expect("a temporary folder");
        let empty = folder.inner("empty").expect("a folder");
        for way in WAYS {
            let told = (way.try_it)(&empty, &folder).expect("it is no fault");
            assert!(told.starts_with("SKIPPED: there is no "), "{told}");
        }
        std::fs::write(empty.join("proofload_0.1.0-1_amd64.deb"), "").expect("a file");
        assert!(
            file(&empty, "proofload_", "_amd64.deb").is_some() && file(&empty, "proofload_", "arm64.deb").is_none()
        );
    }
}
