//! The chore: which ways there are, and what came of each.

use super::{kubernetes, slurm, ssh_cases};
use crate::program::{release_program, tell};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// What a case did and found, in a few words.
pub(super) type Found = Result<String, String>;

/// One way.
struct Way {
    name: &'static str,
    run: fn(&Path) -> Result<(), String>,
}

const WAYS: &[Way] = &[
    Way { name: "ssh", run: ssh_cases::run },
    Way { name: "slurm", run: slurm::run },
    Way { name: "kubernetes", run: kubernetes::run },
];

/// Tries the ways that are named; all of them unless any is.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let mut program = None;
    let mut chosen = Vec::new();
    for argument in arguments {
        match (argument.strip_prefix("program="), WAYS.iter().find(|way| way.name == argument)) {
            (Some(path), _) => program = Some(PathBuf::from(path)),
            (None, Some(way)) => chosen.push(way),
            (None, None) => return Err(format!("{argument:?} is none of ssh, slurm, kubernetes, program=PATH")),
        }
    }
    if chosen.is_empty() {
        chosen.extend(WAYS);
    }
    let installed = Command::new("scripts/install-hosts-needs.sh").status();
    if !installed.is_ok_and(|status| status.success()) {
        return Err("scripts/install-hosts-needs.sh failed; see above".to_owned());
    }
    let program = match program {
        Some(path) => std::path::absolute(&path).map_err(|error| format!("{}: {error}", path.display()))?,
        None => release_program()?,
    };
    let failed: Vec<&str> = chosen
        .into_iter()
        .filter_map(|way| {
            tell(&format!("{}:", way.name));
            let error = (way.run)(&program).err()?;
            tell(&format!("  FAILED {error}"));
            Some(way.name)
        })
        .collect();
    if failed.is_empty() { Ok(()) } else { Err(format!("hosts: failed: {}", failed.join(", "))) }
}

/// Runs a case and tells what came of it, with its time.
pub(super) fn case(name: &str, body: impl FnOnce() -> Found) -> Result<(), String> {
    let begun = Instant::now();
    let found = body().map_err(|error| format!("{name}: {error}"))?;
    tell(&format!("  ok {:>6.1} s  {name}: {found}", begun.elapsed().as_secs_f64()));
    Ok(())
}
