//! `confirm`: experiments with points of a finished record, which find out what bound them. The record grows; its results stay.

use super::live_page::LivePage;
use super::run::{continued, go, not_continued, purges_named, shown_runs};
use super::server_named::servers_named;
use crate::cli::ConfirmArguments;
use crate::conductor::{ExperimentChoice, load_of};
use crate::exit::Exit;
use crate::output;
use proofload_model::intervention::{ConfirmAsked, resources};
use proofload_model::plan::Run;
use proofload_model::settings::setting;
use proofload_model::study::Study;
use proofload_model::units::duration_words;
use proofload_record::Record;
use proofload_report::findings::attribution::missing_knees;
use proofload_report::findings::evaluate;

/// Makes the experiments.
pub(crate) fn run(arguments: &ConfirmArguments) -> Exit {
    let record = match proofload_record::read(&arguments.record) {
        Ok(record) => record,
        Err(error) => return failed(Exit::Failure, &error.to_string()),
    };
    let (planned, notes) = match planned(arguments, &record) {
        Ok(planned) => planned,
        Err((exit, text)) => return failed(exit, &text),
    };
    let notes: String = notes.iter().map(|note| format!("{note}\n")).collect();
    let told = notes + &told(&record, &planned);
    if arguments.plan {
        return output::conclude(false, &told, Exit::Good);
    }
    let page = match LivePage::of(arguments.show.listen.as_deref()) {
        Ok(page) => page,
        Err(text) => return failed(Exit::Failure, &text),
    };
    told.lines().for_each(output::note);
    let (recorder, record, mut assignment) = match continued(&arguments.record, arguments.yes.clone()) {
        Ok(continued) => continued,
        Err(error) => return not_continued(&error),
    };
    // Runs that are missing stay missing: `resume` makes them.
    assignment.finished = record.plan.runs.iter().map(|run| run.index).collect();
    assignment.experiments = planned;
    let shown = shown_runs(&assignment, Some(&record));
    drop(record);
    go(recorder, &mut assignment, (&arguments.record, shown), (&arguments.show, true), page)
}

fn failed(exit: Exit, text: &str) -> Exit {
    output::error(text);
    exit
}

type Planned = Vec<(Run, ConfirmAsked)>;

/// A run of each point with what is to be said of the choice, or why there can be no experiment.
fn planned(arguments: &ConfirmArguments, record: &Record) -> Result<(Planned, Vec<String>), (Exit, String)> {
    let usual = ConfirmAsked::of(&record.study.settings);
    let asked = ConfirmAsked {
        step: arguments.step.unwrap_or(usual.step),
        blocks: arguments.blocks.unwrap_or(usual.blocks),
        ..usual
    };
    let (least, most) = ConfirmAsked::STEPS;
    if !(least..=most).contains(&asked.step) {
        return Err((Exit::Usage, format!("--step {} is not between {least} and {most}", asked.step)));
    }
    let yes = arguments.yes.as_deref();
    let named = purges_named(&record.study, yes).and_then(|()| servers_named(&record.study, yes));
    named.map_err(|text| (Exit::Usage, text))?;
    let findings = evaluate(record);
    let choice = ExperimentChoice::of(&findings, &arguments.points, asked).map_err(|text| (Exit::Usage, text))?;
    match choice.refused.into_iter().next() {
        Some(why) => Err((Exit::Usage, why)),
        None => Ok((choice.planned, missing_knees(&findings, &arguments.points))),
    }
}

/// What will be done, and how long it takes at most.
fn told(record: &Record, planned: &Planned) -> String {
    let line = |(run, asked): &(Run, ConfirmAsked)| {
        let settings = record.plan.settings(&record.study, run.point);
        let (resources, _) = resources(&settings, load_of(&settings));
        let names: Vec<&str> = resources.iter().map(|plan| plan.name.as_str()).collect();
        let levels = record.plan.points[run.point as usize].levels.iter();
        let levels: Vec<String> = levels.map(|(setting, value)| format!("{setting} = {value}")).collect();
        let levels = if levels.is_empty() { String::new() } else { format!(" ({})", levels.join(", ")) };
        format!(
            "point {}{levels}: lowers {} by {} % in up to {} blocks with visits of {} s or longer, at most {} of load after \
             its warm-up\n",
            run.point.saturating_add(1),
            names.join(", "),
            (100.0 * asked.step).round(),
            asked.blocks,
            asked.visit_s,
            duration_words(asked.longest(&resources, &settings))
        )
    };
    planned.iter().map(line).collect()
}

/// Time of the experiments that a study asks for, for `plan`; `None` where it asks for none.
pub(super) fn asked_text(study: &Study) -> Option<String> {
    let words = study.settings.text(setting::CONFIRM_POINTS).ok()?;
    let asked = ConfirmAsked::of(&study.settings);
    let (resources, _) = resources(&study.settings, load_of(&study.settings));
    Some(format!(
        "experiments: with {words} (confirm.points), each up to {} of load after its warm-up\n",
        duration_words(asked.longest(&resources, &study.settings))
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn a_point_is_told_by_its_number_and_its_levels() {
        let stored = concat!(env!("CARGO_MANIFEST_DIR"), "/../report/tests/records/format-4-memory.proof");
        let mut record = proofload_record::read(Path::new(stored)).expect("the record is read");
        let asked = ConfirmAsked::of(&record.study.settings);
        let planned: Planned = record.plan.runs.iter().map(|run| (*run, asked)).collect();
        let begins = |record: &Record, expected: [&str; 2]| {
            let told = told(record, &planned);
            let lines: Vec<&str> = told.lines().collect();
            assert_eq!(lines.len(), 2, "{told}");
            assert!(lines.iter().zip(expected).all(|(line, begin)| line.starts_with(begin)), "{told}");
        };
        // The plan has the points in another order than their levels.
        let levels = ["point 2 (limits.memory = 128MiB): lowers ", "point 1 (limits.memory = 64MiB): lowers "];
        begins(&record, levels);
        record.plan.points.iter_mut().for_each(|point| point.levels.clear());
        begins(&record, ["point 2: lowers ", "point 1: lowers "]);
    }
}
