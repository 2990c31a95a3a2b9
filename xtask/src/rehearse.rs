//! Rehearses the key-value paper study in full against the null engine: all its operations, users and counts, no
//! server.
//!
//! The study file is the paper's own; only what names a server, its limits and its room is taken out. It may not judge:
//! the program says whether the run came to its end.

use crate::program::release_program;
use crate::work_folder::WorkFolder;
use std::path::Path;
use std::process::Command;

/// The study.
const STUDY: &str = "studies/papers/xd6-mongodb-ycsb.toml";

/// Runs the study with so many operations; all that it has unless the first argument says otherwise.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let text = std::fs::read_to_string(STUDY).map_err(|error| format!("reading {STUDY}: {error}"))?;
    let folder = WorkFolder::of("rehearsal")?;
    folder.write("rehearsal.toml", &rehearsal(&text))?;
    proofload(folder.here(), arguments.first().map(String::as_str))
}

fn proofload(folder: &Path, operations: Option<&str>) -> Result<(), String> {
    let mut command = Command::new(release_program()?);
    command.arg("run").arg(folder.join("rehearsal.toml")).current_dir(folder);
    if let Some(operations) = operations {
        command.arg("--set").arg(format!("workload.operations={operations}"));
    }
    let status = command.status().map_err(|error| format!("starting the program: {error}"))?;
    // 6: the study ended with a void point, as a rehearsal on a busy machine may; its operations are done.
    match status.code() {
        Some(0 | 6) => Ok(()),
        code => Err(format!("the rehearsal did not come to its end: exit code {code:?}")),
    }
}

/// The paper's study on the null engine: without limits, and with a short warm-up.
fn rehearsal(text: &str) -> String {
    let mut section = "";
    let mut lines = Vec::new();
    for line in text.lines() {
        if line.starts_with('[') {
            section = line.split(']').next().unwrap_or_default();
        }
        match (section, line.split('=').next().unwrap_or_default().trim()) {
            ("[limits" | "[storage", _) => {}
            ("[engine", "kind") => lines.push("kind = \"null\"".to_owned()),
            ("[procedure", "warm_up") => {
                lines.push("warm_up = { at_least = \"10s\", at_most = \"1m\", tolerance = 0.25 }".to_owned());
            }
            _ => lines.push(line.to_owned()),
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn server_limits_and_room_are_taken_out_and_the_load_stays() {
        let text = include_str!("../../studies/papers/xd6-mongodb-ycsb.toml");
        let rehearsal = rehearsal(text);
        for kept in ["operations = 2000000000", "records = 300000000", "virtual_users = 256", "kind = \"null\""] {
            assert!(rehearsal.contains(kept), "{kept}");
        }
        for gone in ["kind = \"mongodb\"", "[limits]", "/srv/proofload"] {
            assert!(!rehearsal.contains(gone), "{gone}");
        }
    }
}
