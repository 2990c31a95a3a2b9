//! A PDF from the Typst source of a paper, by the program `proofload-pdf`: the typesetter would take longer to compile than this program.

use crate::output;
use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const PROGRAM: &str = "proofload-pdf";

/// What to do where there is no program.
const REMEDY: &str = "build it with `cargo build --release -p proofload-pdf --features typst` and \
    put target/release/proofload-pdf beside proofload or on the PATH; without it, --format typst writes the source, of which `typst compile` makes the PDF, and --format html \
    a page that a browser prints";

/// Makes the PDF; what the program remarks is passed on.
pub(super) fn make(source: &str) -> Result<Vec<u8>, String> {
    let program = find()?;
    let shown = program.display();
    let started = Command::new(&program).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = started.map_err(|error| format!("failed to start {shown}: {error}"))?;
    let written = child.stdin.take().map_or(Ok(()), |mut input| input.write_all(source.as_bytes()));
    let output = child.wait_with_output().map_err(|error| format!("failed to wait for {shown}: {error}"))?;
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    check(&output, &said).map_err(|why| format!("{shown} made no PDF: {why}"))?;
    // A program that has not read everything has ended with an error of its own, which says more.
    written.map_err(|error| format!("failed to hand the source to {shown}: {error}"))?;
    if !said.is_empty() {
        output::note(&said);
    }
    Ok(output.stdout)
}

/// Whether a PDF came back.
fn check(output: &Output, said: &str) -> Result<(), String> {
    match (output.status.success(), output.stdout.starts_with(b"%PDF-")) {
        (true, true) => Ok(()),
        (true, false) => Err("what it wrote is none; is it another program of that name?".to_owned()),
        (false, _) if said.is_empty() => Err(output.status.to_string()),
        (false, _) => Err(format!("{}: {said}", output.status)),
    }
}

/// The program beside this one, else on the PATH.
fn find() -> Result<PathBuf, String> {
    let own = std::env::current_exe().ok();
    let beside = own.as_deref().and_then(Path::parent);
    let path = std::env::var_os("PATH").unwrap_or_default();
    find_in(beside, &path).ok_or_else(|| {
        let place = beside.map_or_else(String::new, |folder| format!("in {} or ", folder.display()));
        format!("a PDF is made by the program {PROGRAM}, which is not {place}on the PATH: {REMEDY}")
    })
}

fn find_in(beside: Option<&Path>, path: &OsStr) -> Option<PathBuf> {
    let folders = beside.map(Path::to_path_buf).into_iter().chain(std::env::split_paths(path));
    folders.map(|folder| folder.join(PROGRAM)).find(|program| program.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_beside_this_one_comes_before_the_path() {
        let (beside, path) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let found = || find_in(Some(beside.path()), path.path().as_os_str());
        assert_eq!(found(), None);
        std::fs::write(path.path().join(PROGRAM), "").unwrap();
        assert_eq!(found(), Some(path.path().join(PROGRAM)));
        std::fs::write(beside.path().join(PROGRAM), "").unwrap();
        assert_eq!(found(), Some(beside.path().join(PROGRAM)));
    }
}
