//! Runs the studies of planted causes one after another and ends with the table of how each was named.

use super::decoy::Decoy;
use super::plants::{PLANTS, Plant, study_text};
use super::score::CauseNames;
use super::table::{PlantOutcome, PlantSums, document, name_of};
use crate::program::{proofload, release_program, tell};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What was asked.
struct Wishes {
    numbers: Vec<u32>,
    program: Option<PathBuf>,
    blocks: String,
    step: String,
    /// Folder in which studies and records stay; `None`: they are removed.
    keep: Option<PathBuf>,
}

/// File of the sums and the table, in the folder that is kept.
const TABLE: &str = "causes.md";

/// Blocks of the experiment that tells how much of a limit is used without a decoy: as few as there may be.
const BLOCKS_BEFORE: &str = "2";

/// Runs all, or those of these numbers, and ends with their table; an error when a cause was named wrongly.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let wishes = wishes(arguments)?;
    let program = wishes.program.clone().map_or_else(release_program, Ok)?;
    let passing = std::env::temp_dir().join(format!("proofload-causes-{}", std::process::id()));
    let folder = wishes.keep.clone().unwrap_or(passing);
    std::fs::create_dir_all(&folder).map_err(|error| format!("making {}: {error}", folder.display()))?;
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&folder, open).map_err(|error| format!("opening {}: {error}", folder.display()))?;
    let mut outcomes = Vec::new();
    for plant in PLANTS.iter().filter(|plant| wishes.numbers.is_empty() || wishes.numbers.contains(&plant.number)) {
        let outcome = judge(&program, &folder, plant, &wishes);
        tell(&outcome.details());
        outcomes.push(outcome);
    }
    let table = document(&outcomes);
    let left = if wishes.keep.is_some() {
        let path = folder.join(TABLE);
        std::fs::write(&path, &table).map_err(|error| format!("writing {}: {error}", path.display()))
    } else {
        std::fs::remove_dir_all(&folder).map_err(|error| format!("removing {}: {error}", folder.display()))
    };
    tell(&format!("\n{table}"));
    left?;
    match PlantSums::of(&outcomes).wrong {
        0 => Ok(()),
        wrong => Err(format!("{wrong} causes were named wrongly")),
    }
}

fn wishes(arguments: &[String]) -> Result<Wishes, String> {
    let mut wishes =
        Wishes { numbers: Vec::new(), program: None, blocks: "12".to_owned(), step: "0.2".to_owned(), keep: None };
    for argument in arguments {
        match argument.split_once('=') {
            Some(("program", path)) => wishes.program = Some(PathBuf::from(path)),
            Some(("keep", folder)) => wishes.keep = Some(PathBuf::from(folder)),
            Some(("step", step)) => step.clone_into(&mut wishes.step),
            Some(("blocks", blocks)) => blocks.clone_into(&mut wishes.blocks),
            Some((other, _)) => return Err(format!("{other:?} is none of program, blocks, step and keep")),
            None => {
                wishes.numbers.push(argument.parse().map_err(|_| format!("{argument:?} is not a number of a plant"))?)
            }
        }
    }
    Ok(wishes)
}

/// Runs the study of a plant and its experiment.
fn judge(program: &Path, folder: &Path, plant: &Plant, wishes: &Wishes) -> PlantOutcome {
    let name = format!("cause-{}", plant.number);
    let text = study_text(&name, plant);
    let (text, decoy) = match plant.decoy {
        None => (text, String::new()),
        Some(decoy) => match with_decoy((program, folder), plant, decoy, wishes) {
            Ok(text) => (text, format!("; decoy: {:.0} % of {} used", 100.0 * decoy.used, name_of(decoy.limit))),
            Err(why) => (text, format!("; no decoy: {why}")),
        },
    };
    let named =
        experiment((program, folder), (name.as_str(), text.as_str()), (wishes.blocks.as_str(), wishes.step.as_str()));
    PlantOutcome { plant: *plant, decoy, named, day: today() }
}

/// The study of a plant with its decoy, from how much was used without it.
fn with_decoy(at: (&Path, &Path), plant: &Plant, decoy: Decoy, wishes: &Wishes) -> Result<String, String> {
    let before = format!("cause-{}-before", plant.number);
    let without = study_text(&before, plant);
    let used = experiment(at, (before.as_str(), without.as_str()), (BLOCKS_BEFORE, wishes.step.as_str()))?;
    let reached = used.reached(decoy.limit).ok_or_else(|| format!("use of {} was not counted", decoy.limit))?;
    decoy.text(&study_text(&format!("cause-{}", plant.number), plant), reached)
}

/// Runs a study and its experiment in a folder; what was named.
fn experiment(
    (program, folder): (&Path, &Path),
    (name, text): (&str, &str),
    (blocks, step): (&str, &str),
) -> Result<CauseNames, String> {
    let (file, record) = (format!("{name}.toml"), format!("{name}.proof"));
    std::fs::write(folder.join(&file), text).map_err(|error| format!("writing {file}: {error}"))?;
    proofload(program, folder, &["run", &file, "--void", "ok", "--no-report", "--progress", "none"])?;
    let asked = ["--blocks", blocks, "--step", step, "--no-report", "--progress", "none"];
    proofload(program, folder, &[&["confirm", &record], &asked[..]].concat())?;
    let report = proofload(program, folder, &["report", &record, "--format", "json"])?;
    let report: Value = serde_json::from_str(&report).map_err(|error| format!("reading the report: {error}"))?;
    CauseNames::of(&report).ok_or_else(|| "the report tells no experiment".to_owned())
}

/// The date, by the system's own command.
fn today() -> String {
    let output = Command::new("date").args(["-u", "+%F"]).output();
    let told = output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned()).unwrap_or_default();
    if told.is_empty() { "not kept".to_owned() } else { told }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wishes_are_read_and_others_refused() {
        let read = |words: &[&str]| wishes(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
        let wishes = read(&["14", "blocks=6", "9"]).unwrap();
        assert_eq!((wishes.numbers, wishes.blocks.as_str()), (vec![14, 9], "6"));
        assert!(read(&["all"]).is_err() && read(&["speed=1"]).is_err());
    }

    #[test]
    fn the_date_has_ten_letters() {
        assert_eq!(today().len(), "2026-12-01".len());
    }
}
