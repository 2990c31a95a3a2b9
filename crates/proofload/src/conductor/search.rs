//! A study that searches: when all that is planned has been run, the results say what comes next, and the plan grows by it. The choice is
//! the report's; here it only gets into plan and record, both in one commit, so that a killed study goes on with the same choice.

use super::run_context::RunContext;
use super::study::Assignment;
use crate::run_times::planned_runs;
use proofload_analysis::search::Try;
use proofload_model::error::Error;
use proofload_model::events::RunEvent;
use proofload_model::plan::Plan;
use proofload_model::settings::setting;
use proofload_model::study::value_of;
use proofload_record::{AttemptEvent, Record};
use proofload_report::findings::{SearchFindings, SearchState, searches};
use std::collections::BTreeMap;

/// Adds what the searches of the study choose next; false when nothing was added, because they ended or wait for missing runs.
pub(super) fn go_on(assignment: &mut Assignment, context: &mut RunContext<'_>) -> Result<bool, Error> {
    if assignment.study.settings.get(setting::SEARCH_SETTING).is_none() {
        return Ok(false);
    }
    let record = context.heard.journal.read_back()?;
    let (mut plan, mut events) = (record.plan.clone(), Vec::new());
    for search in &searches(&record) {
        match &search.state {
            SearchState::Waiting => {}
            SearchState::Next(step) => events.push(extend(&record, &mut plan, search, step)),
            SearchState::Ended(_) => events.extend(ended(&record, search)),
        }
    }
    let grown = plan.runs.len() > record.plan.runs.len();
    context.heard.journal.search(grown.then_some(&plan), events)?;
    if grown {
        context.heard.view.planned(&planned_runs(&record.study, &plan)[assignment.plan.runs.len()..]);
        assignment.plan = plan;
    }
    Ok(grown)
}

/// Notes why the points of a new search begin where they begin.
pub(super) fn begin(assignment: &Assignment, context: &mut RunContext<'_>) -> Result<(), Error> {
    let record = context.heard.journal.read_back()?;
    if record.events.iter().any(|event| matches!(event.event, RunEvent::SearchStep { .. })) {
        return Ok(());
    }
    let step = |search: &SearchFindings| {
        let levels = &assignment.plan.points[search.path[0].point].levels;
        step_event(search, search.path[0].point, &levels[&search.asked.setting].to_string(), "the smallest load")
    };
    let events = searches(&record).iter().map(step).collect();
    context.heard.journal.search(None, events)
}

/// One more point, or more runs of one, alone or side by side with the best so far.
fn extend(record: &Record, plan: &mut Plan, search: &SearchFindings, step: &Try) -> RunEvent {
    let load = value_of(&search.asked, step.load);
    let point = search.point_of(step, &record.plan).unwrap_or_else(|| {
        let mut levels = search.levels.clone();
        levels.insert(search.asked.setting.clone(), load.clone());
        plan.add_point(levels)
    });
    let beside = search.beside(step, &record.plan);
    let points: Vec<u32> = beside.iter().map(|(_, point)| *point).chain([point]).collect();
    plan.measure(&record.study, &points, record.plan.has_blocks());
    step_event(search, point as usize, &load.to_string(), &search.why(step, beside.map(|(load, _)| load)))
}

fn step_event(search: &SearchFindings, point: usize, load: &str, why: &str) -> RunEvent {
    let (load, why) = (load.to_owned(), why.to_owned());
    RunEvent::SearchStep { others: others(search), point: point as u64, load, why }
}

/// The event of a search's end; `None` when the record has it already.
fn ended(record: &Record, search: &SearchFindings) -> Option<RunEvent> {
    let others = others(search);
    let is_told =
        |event: &AttemptEvent| matches!(&event.event, RunEvent::SearchEnded { others: of, .. } if *of == others);
    let told = record.events.iter().any(is_told);
    (!told).then(|| RunEvent::SearchEnded { others, found: search.found().is_some(), text: search.text() })
}

/// Whether every search of a record's study has ended and the record says so; of a study without one as well.
pub(super) fn has_ended(record: &Record) -> bool {
    let is_over =
        |search: &SearchFindings| matches!(search.state, SearchState::Ended(_)) && ended(record, search).is_none();
    record.study.settings.get(setting::SEARCH_SETTING).is_none() || searches(record).iter().all(is_over)
}

/// Levels of the factors, which tell searches apart.
fn others(search: &SearchFindings) -> BTreeMap<String, String> {
    search.levels.iter().map(|(setting, level)| (setting.clone(), level.to_string())).collect()
}
