//! `confirm`: experiments with points of a finished record, which find out what bound them. The record grows; its results stay.

use super::live_page::LivePage;
use super::run::{continued, go, purges_named};
use crate::cli::ConfirmArguments;
use crate::exit::Exit;
use crate::output;
use proofload_load::Rating;
use proofload_model::intervention::{ConfirmAsked, LIVE_LIMITS, PointLoad, resources};
use proofload_model::plan::Run;
use proofload_model::settings::Settings;
use proofload_model::study::Study;
use proofload_model::units::duration_words;
use proofload_record::Record;
use proofload_report::findings::attribution::chosen_points;
use proofload_report::findings::evaluate;

/// Makes the experiments.
pub(crate) fn run(arguments: &ConfirmArguments) -> Exit {
    let record = match proofload_record::read(&arguments.record) {
        Ok(record) => record,
        Err(error) => return failed(Exit::Failure, &error.to_string()),
    };
    let planned = match planned(arguments, &record) {
        Ok(planned) => planned,
        Err((exit, text)) => return failed(exit, &text),
    };
    let told = told(&record, &planned);
    if arguments.plan {
        output::result(&told);
        return Exit::Good;
    }
    let page = match LivePage::of(arguments.show.listen.as_deref()) {
        Ok(page) => page,
        Err(text) => return failed(Exit::Failure, &text),
    };
    told.lines().for_each(output::note);
    let (recorder, record, mut assignment) = match continued(&arguments.record, arguments.yes.clone()) {
        Ok(continued) => continued,
        Err(error) => return failed(Exit::Failure, &error.to_string()),
    };
    // Runs that are missing stay missing: `resume` makes them.
    assignment.finished = record.plan.runs.iter().map(|run| run.index).collect();
    assignment.experiments = planned;
    go(recorder, &mut assignment, &arguments.record, (&arguments.show, true), page)
}

fn failed(exit: Exit, text: &str) -> Exit {
    output::error(text);
    exit
}

type Planned = Vec<(Run, ConfirmAsked)>;

/// A run of each point, or why there can be no experiment.
fn planned(arguments: &ConfirmArguments, record: &Record) -> Result<Planned, (Exit, String)> {
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
    purges_named(&record.study, arguments.yes.as_deref()).map_err(|text| (Exit::Usage, text))?;
    let points = chosen_points(&evaluate(record), &arguments.points).map_err(|text| (Exit::Usage, text))?;
    let mut planned = Vec::new();
    for point in points {
        let settings = record.plan.settings(&record.study, point);
        let run = record.plan.runs.iter().find(|run| run.point == point && record.finished(run.index).is_some());
        let run = run.ok_or_else(|| (Exit::Failure, format!("point {point} has no finished run")))?;
        expect_load_that_goes_on(&settings).map_err(|text| (Exit::Usage, format!("point {point}: {text}")))?;
        if resources(&settings, load_of(&settings)).0.is_empty() {
            let text = format!(
                "point {point} has nothing that can be lowered: it has one user, and the study sets none of {}",
                LIVE_LIMITS.iter().map(|(path, _)| *path).collect::<Vec<_>>().join(", ")
            );
            return Err((Exit::Usage, text));
        }
        planned.push((*run, asked));
    }
    Ok(planned)
}

/// An experiment needs a load that goes on as long as it is wanted, on an instance whose limits are ours.
fn expect_load_that_goes_on(settings: &Settings) -> Result<(), String> {
    let kind = settings.text("workload.kind").unwrap_or_default();
    let workload = proofload_load::workload(kind).ok_or_else(|| format!("unknown workload {kind}"))?;
    if workload.rating(settings) != Rating::Window {
        return Err("its load ends by itself, so that resources cannot be lowered in turn while it runs".to_owned());
    }
    if settings.get("drill.fault").is_some() {
        return Err("it is a drill".to_owned());
    }
    if settings.get("engine.url").is_some() {
        return Err("limits of an existing server (engine.url) are not ours to change".to_owned());
    }
    Ok(())
}

/// What decides, beside its settings, what of a point can be changed.
fn load_of(settings: &Settings) -> PointLoad {
    let workload = proofload_load::workload(settings.text("workload.kind").unwrap_or_default());
    let engine = proofload_engine::engine(settings.text("engine.kind").unwrap_or_default());
    PointLoad {
        users: workload.map_or(0, |workload| workload.sessions(settings)),
        is_embedded: engine.is_some_and(|engine| engine.facts().capabilities.embedded),
    }
}

/// What will be done, and how long it takes at most.
fn told(record: &Record, planned: &Planned) -> String {
    let line = |(run, asked): &(Run, ConfirmAsked)| {
        let settings = record.plan.settings(&record.study, run.point);
        let (resources, _) = resources(&settings, load_of(&settings));
        let names: Vec<&str> = resources.iter().map(|plan| plan.name.as_str()).collect();
        format!(
            "point {}: lowers {} by {} % in up to {} blocks, at most {} of load\n",
            run.point,
            names.join(", "),
            (100.0 * asked.step).round(),
            asked.blocks,
            duration_words(asked.longest(resources.len()))
        )
    };
    planned.iter().map(line).collect()
}

/// Time of the experiments that a study asks for, for `plan`; `None` where it asks for none.
pub(super) fn asked_text(study: &Study) -> Option<String> {
    let words = study.settings.text("confirm.points").ok()?;
    let asked = ConfirmAsked::of(&study.settings);
    let (resources, _) = resources(&study.settings, load_of(&study.settings));
    Some(format!(
        "experiments: with {words} (confirm.points), each up to {} of load\n",
        duration_words(asked.longest(resources.len()))
    ))
}
