//! Runs the quick study of each paper and signs its record. May not read a figure.

use super::description::Paper;
use super::run::{FOLDER, program_ends, program_says, quiet_remove};
use crate::work_folder::WorkFolder;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Exit code of a study with void points.
const NO_RESULT: i32 = 6;

/// Name of the signer in `allowed_signers`.
pub(super) const SIGNER: &str = "papers";

/// Runs these studies one after another; each record replaces the one that is there when it is whole and signed.
pub(super) fn repeat(program: &Path, papers: &[&Paper], key: Option<PathBuf>) -> Result<(), String> {
    in_folder(program, papers, key, WorkFolder::of("papers")?.here())
}

fn in_folder(program: &Path, papers: &[&Paper], key: Option<PathBuf>, folder: &Path) -> Result<(), String> {
    let key = key.map_or_else(|| fresh_key(folder), Ok)?;
    for paper in papers {
        let (study, record) =
            (format!("studies/quick/{}.toml", paper.study), folder.join(format!("{}.proof", paper.study)));
        let (data, record_text) =
            (format!("storage.path={}", folder.join("data").display()), record.display().to_string());
        let mut arguments =
            vec!["run", &study, "-o", &record_text, "--no-report", "--progress", "plain", "--set", &data];
        for setting in &paper.set {
            arguments.extend(["--set", setting]);
        }
        let (_, code) = program_ends(program, &arguments, &[0, NO_RESULT])?;
        if code == NO_RESULT {
            // Once: the record keeps the void attempts and tells them.
            program_says(
                program,
                &["resume", &record_text, "--void", "--no-report", "--progress", "plain"],
                &[0, NO_RESULT],
            )?;
        }
        if let Some(experiment) = &paper.confirm {
            let asked = experiment.arguments();
            let mut arguments = vec!["confirm", &record_text, "--no-report", "--progress", "plain"];
            arguments.extend(asked.iter().map(String::as_str));
            program_says(program, &arguments, &[0, NO_RESULT])?;
        }
        quiet_remove(&folder.join("data"));
        let key = key.display().to_string();
        program_says(program, &["sign", &record_text, "--key", &key], &[0])?;
        keep(&record)?;
    }
    allow(&key)
}

/// A key for these records alone. Its secret half is not kept: nobody can sign another record with it.
fn fresh_key(folder: &Path) -> Result<PathBuf, String> {
    let key = folder.join("key");
    let made =
        Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-C", SIGNER, "-f"]).arg(&key).status();
    match made {
        Ok(status) if status.success() => Ok(key),
        Ok(status) => Err(format!("ssh-keygen ended with {status}")),
        Err(error) => Err(format!("starting ssh-keygen: {error}")),
    }
}

fn keep(record: &Path) -> Result<(), String> {
    let signature = record.with_extension("proof.sig");
    for file in [record, &signature] {
        let name = file.file_name().ok_or("a record has no name")?;
        let to = Path::new(FOLDER).join(name);
        std::fs::copy(file, &to).map_err(|error| format!("copying to {}: {error}", to.display()))?;
    }
    Ok(())
}

/// Adds the public half to those allowed: records of earlier keys stay provable.
fn allow(key: &Path) -> Result<(), String> {
    let public = key.with_extension("pub");
    let text = std::fs::read_to_string(&public).map_err(|error| format!("reading {}: {error}", public.display()))?;
    let words: Vec<&str> = text.split_whitespace().take(2).collect();
    let line = format!("{SIGNER} {}\n", words.join(" "));
    let file = Path::new(FOLDER).join("allowed_signers");
    let known = std::fs::read_to_string(&file).unwrap_or_default();
    if known.contains(&line) {
        return Ok(());
    }
    std::fs::write(&file, known + &line).map_err(|error| format!("writing {}: {error}", file.display()))
}
