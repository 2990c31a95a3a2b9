//! Runs the studies of planted causes one after another and prints how each was named.

use super::plants::{PLANTS, Plant, PlantStudy, study_text};
use super::score::CauseNames;
use crate::program::{release_program, tell};
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

/// Runs all, or those of these numbers; an error when a cause was named wrongly.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let wishes = wishes(arguments)?;
    let program = wishes.program.clone().map_or_else(release_program, Ok)?;
    let passing = std::env::temp_dir().join(format!("proofload-causes-{}", std::process::id()));
    let folder = wishes.keep.clone().unwrap_or(passing);
    std::fs::create_dir_all(&folder).map_err(|error| format!("making {}: {error}", folder.display()))?;
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&folder, open).map_err(|error| format!("opening {}: {error}", folder.display()))?;
    tell(
        "| # | plant | must be named | confirmed | | blocks | elasticities | fullest limit | observed first |\n|---|---|---|---|---|---|---|---|---|",
    );
    let mut counts = Counts::default();
    for plant in PLANTS.iter().filter(|plant| wishes.numbers.is_empty() || wishes.numbers.contains(&plant.number)) {
        counts.add(&plant.study, &judge(&program, &folder, plant, &wishes));
    }
    let removed = if wishes.keep.is_some() { Ok(()) } else { std::fs::remove_dir_all(&folder) };
    tell(&counts.words());
    removed.map_err(|error| format!("removing {}: {error}", folder.display()))?;
    if counts.wrong == 0 { Ok(()) } else { Err(format!("{} causes were named wrongly", counts.wrong)) }
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

#[derive(Default)]
struct Counts {
    run: u32,
    right: u32,
    wrong: u32,
    failed: u32,
    by_fullest: u32,
    fullest_among: u32,
    by_observed: u32,
}

impl Counts {
    fn add(&mut self, study: &PlantStudy, named: &Result<CauseNames, String>) {
        let Ok(named) = named else {
            self.failed += 1;
            return;
        };
        let alone =
            |name: &Option<String>| u32::from(name.as_ref().is_some_and(|name| study.expected == [name.as_str()]));
        self.run += 1;
        self.right += u32::from(named.is_right(study.expected));
        self.wrong += u32::from(named.is_wrong(study.expected));
        self.by_fullest += alone(&named.fullest);
        self.fullest_among += u32::from(named.fullest.as_deref().is_some_and(|name| study.expected.contains(&name)));
        self.by_observed += alone(&named.observed);
    }

    fn words(&self) -> String {
        let Self { run, right, wrong, failed, by_fullest, fullest_among, by_observed } = self;
        format!(
            "\nof {run} that were run: {right} named in full and nothing else, {wrong} with a wrong name confirmed; by the limit of which most \
             was used {by_fullest}, with that limit among the right names {fullest_among}, by the first observed candidate {by_observed}; {failed} failed"
        )
    }
}

/// Runs one study and its experiment, and prints its row.
fn judge(program: &Path, folder: &Path, plant: &Plant, wishes: &Wishes) -> Result<CauseNames, String> {
    let study = &plant.study;
    let named = experiment(program, folder, (plant.number, study), wishes);
    let expected = study.expected.join(", ");
    let head = format!("| {} | {} | {expected} |", plant.number, plant.title);
    match &named {
        Err(error) => tell(&format!("{head} | failed: {error} | | | | |")),
        Ok(named) => {
            let word = match (named.is_right(study.expected), named.is_wrong(study.expected)) {
                (true, _) => "right",
                (_, true) => "WRONG",
                _ => "not all",
            };
            tell(&format!(
                "{head} {} | {word} | {} | {} | {} | {} |",
                named.confirmed.join(", "),
                named.blocks,
                named.all,
                named.fullest.as_deref().unwrap_or("none"),
                named.observed.as_deref().unwrap_or("none")
            ));
        }
    }
    named
}

fn experiment(
    program: &Path,
    folder: &Path,
    (number, study): (u32, &PlantStudy),
    wishes: &Wishes,
) -> Result<CauseNames, String> {
    let (file, record) = (format!("cause-{number}.toml"), format!("cause-{number}.proof"));
    std::fs::write(folder.join(&file), study_text(number, study))
        .map_err(|error| format!("writing {file}: {error}"))?;
    proofload(program, folder, &["run", &file, "--void", "ok", "--no-report", "--progress", "none"])?;
    let (blocks, step) = (wishes.blocks.as_str(), wishes.step.as_str());
    let asked = ["--blocks", blocks, "--step", step, "--no-report", "--progress", "none"];
    proofload(program, folder, &[&["confirm", &record], &asked[..]].concat())?;
    let report = proofload(program, folder, &["report", &record, "--format", "json"])?;
    let report: Value = serde_json::from_str(&report).map_err(|error| format!("reading the report: {error}"))?;
    CauseNames::of(&report).ok_or_else(|| "the report tells no experiment".to_owned())
}

/// Runs the program; its standard output.
fn proofload(program: &Path, folder: &Path, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new(program).args(arguments).current_dir(folder).output();
    let output = output.map_err(|error| format!("starting {}: {error}", program.display()))?;
    match output.status.code() {
        Some(0 | 6) => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        code => {
            let said = String::from_utf8_lossy(&output.stderr);
            let why = said.lines().find(|line| line.starts_with("proofload: ")).unwrap_or("nothing");
            Err(format!("{} ended with {code:?} and said: {why}", arguments[0]))
        }
    }
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
}
