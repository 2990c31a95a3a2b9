//! What lies beside the binary in every package: manual pages and completions, which the program writes, licences, the readme, the changelog.

use super::licences;
use super::product::DistProduct;
use super::target::DistTarget;
use crate::files::{copy, write};
use crate::program::output;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Files of the project that go along.
const OURS: &[&str] = &["LICENSE-MIT", "LICENSE-APACHE", "README.md", "CHANGELOG.md"];

/// Shells with a completion: their word, and its file.
pub(super) const SHELLS: &[(&str, &str)] = &[("bash", "proofload"), ("zsh", "_proofload"), ("fish", "proofload.fish")];

/// Folders and files that were made.
#[derive(Debug)]
pub(super) struct Paperwork {
    /// Manual pages, not packed.
    pub(super) man: PathBuf,
    /// A folder for each shell.
    pub(super) completions: PathBuf,
}

/// Has a program that runs here write manual pages and completions.
pub(super) fn make(program: &Path, folder: &Path) -> Result<Paperwork, String> {
    let paperwork = Paperwork { man: folder.join("man"), completions: folder.join("completions") };
    output(Command::new(program).args(["man", "--overwrite", "-o"]).arg(&paperwork.man))?;
    for (shell, file) in SHELLS {
        let script = output(Command::new(program).args(["completions", shell]))?;
        write(&paperwork.completions.join(shell).join(file), script)?;
    }
    Ok(paperwork)
}

/// Copies the project's texts and the licences of all that is compiled in.
pub(super) fn texts(product: DistProduct, target: &DistTarget, folder: &Path) -> Result<(), String> {
    for name in OURS {
        copy(Path::new(name), &folder.join(name))?;
    }
    write(&folder.join("LICENSES-THIRD-PARTY.txt"), licences::text(product, target)?)
}
