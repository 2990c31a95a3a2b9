//! Runs the studies of planted causes one after another and ends with the table of how each was named.

use super::decoy::Decoy;
use super::plants::{PLANTS, Plant, study_text};
use super::score::CauseNames;
use super::table::{PlantOutcome, PlantSums, document, name_of};
use crate::program::{proofload, release_program, tell};
use serde_json::{Value, json};
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
        let kept = wishes.keep.as_ref().and_then(|folder| kept(folder, plant, &wishes));
        let outcome = kept.unwrap_or_else(|| judge(&program, &folder, plant, &wishes));
        tell(&outcome.details());
        outcomes.push(outcome);
        // A kill loses the plant that runs, and none before it.
        if wishes.keep.is_some() {
            write(&folder.join(TABLE), &document(&outcomes))?;
        }
    }
    let table = document(&outcomes);
    let left = if wishes.keep.is_some() {
        Ok(())
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
    let asked = (wishes.blocks.as_str(), wishes.step.as_str());
    let day = today();
    let report = experiment((program, folder), (name.as_str(), text.as_str()), asked);
    let named = report.and_then(|report| {
        let named = named(&report)?;
        let page = json!({ "blocks": asked.0, "step": asked.1, "decoy": decoy, "day": day, "report": report });
        write(&folder.join(result_file(plant)), &page.to_string())?;
        Ok(named)
    });
    PlantOutcome { plant: *plant, decoy, named, day }
}

/// Name of the file with the result of a plant, in the folder that is kept.
fn result_file(plant: &Plant) -> String {
    format!("cause-{}.json", plant.number)
}

/// The result of a plant that was run to its end before with the same blocks and step; `None` where it is to be run.
fn kept(folder: &Path, plant: &Plant, wishes: &Wishes) -> Option<PlantOutcome> {
    let page: Value = serde_json::from_str(&std::fs::read_to_string(folder.join(result_file(plant))).ok()?).ok()?;
    let is_same = page["blocks"] == wishes.blocks.as_str() && page["step"] == wishes.step.as_str();
    let named = named(&page["report"]).ok().filter(|_| is_same)?;
    let text = |key: &str| page[key].as_str().map(str::to_owned);
    Some(PlantOutcome { plant: *plant, decoy: text("decoy")?, named: Ok(named), day: text("day")? })
}

/// What a report names.
fn named(report: &Value) -> Result<CauseNames, String> {
    CauseNames::of(report).ok_or_else(|| "the report tells no experiment".to_owned())
}

/// Removes a record with what the program keeps beside it while it writes.
fn remove_left(folder: &Path, record: &str) -> Result<(), String> {
    let listing = std::fs::read_dir(folder).map_err(|error| format!("listing {}: {error}", folder.display()))?;
    let left = listing.flatten().filter(|entry| entry.file_name().to_string_lossy().starts_with(record));
    left.map(|entry| entry.path()).filter(|path| path.is_file()).try_for_each(|path| {
        std::fs::remove_file(&path).map_err(|error| format!("removing {}: {error}", path.display()))
    })
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    std::fs::write(path, text).map_err(|error| format!("writing {}: {error}", path.display()))
}

/// The study of a plant with its decoy, from how much was used without it.
fn with_decoy(at: (&Path, &Path), plant: &Plant, decoy: Decoy, wishes: &Wishes) -> Result<String, String> {
    let before = format!("cause-{}-before", plant.number);
    let without = study_text(&before, plant);
    let used = named(&experiment(at, (before.as_str(), without.as_str()), (BLOCKS_BEFORE, wishes.step.as_str()))?)?;
    let reached = used.reached(decoy.limit).ok_or_else(|| format!("use of {} was not counted", decoy.limit))?;
    decoy.text(&study_text(&format!("cause-{}", plant.number), plant), reached)
}

/// Runs a study and its experiment in a folder; the report on both. A record that was broken off is made anew.
fn experiment(
    (program, folder): (&Path, &Path),
    (name, text): (&str, &str),
    (blocks, step): (&str, &str),
) -> Result<Value, String> {
    let (file, record) = (format!("{name}.toml"), format!("{name}.proof"));
    write(&folder.join(&file), text)?;
    remove_left(folder, &record)?;
    proofload(program, folder, &["run", &file, "--void", "ok", "--no-report", "--progress", "none"])?;
    let asked = ["--blocks", blocks, "--step", step, "--no-report", "--progress", "none"];
    proofload(program, folder, &[&["confirm", &record], &asked[..]].concat())?;
    let report = proofload(program, folder, &["report", &record, "--format", "json"])?;
    serde_json::from_str(&report).map_err(|error| format!("reading the report: {error}"))
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
    fn a_plant_that_was_run_is_taken_from_the_folder_and_a_record_that_was_broken_off_is_removed() {
        let folder = std::env::temp_dir().join(format!("proofload-kept-causes-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (plant, wishes) = (&PLANTS[0], wishes(&[]).unwrap());
        assert_eq!(kept(&folder, plant, &wishes), None);
        let resource =
            json!({ "name": "limits.cpu", "kind": "capacity", "verdict": "confirmed", "E": { "x": [1.0, 0.9, 1.1] } });
        let report = json!({ "attribution": [{ "blocks": 9, "step": 0.2, "resources": [resource] }] });
        let named = named(&report).unwrap();
        let page = json!({ "blocks": "12", "step": "0.2", "decoy": "; decoy", "day": "2026-12-01", "report": report });
        write(&folder.join(result_file(plant)), &page.to_string()).unwrap();
        let found = kept(&folder, plant, &wishes).unwrap();
        assert_eq!((found.named, found.decoy.as_str(), found.day.as_str()), (Ok(named), "; decoy", "2026-12-01"));
        let other = Wishes { step: "0.3".to_owned(), ..wishes };
        assert_eq!(kept(&folder, plant, &other), None, "another step is another experiment");
        write(&folder.join("cause-1.proof"), "").unwrap();
        write(&folder.join("cause-1.proof-wal"), "").unwrap();
        remove_left(&folder, "cause-1.proof").unwrap();
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1, "the result stays");
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn the_date_has_ten_letters() {
        assert_eq!(today().len(), "2026-12-01".len());
    }
}
