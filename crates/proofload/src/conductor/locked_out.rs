//! A server that lets nobody log in: a study ends at the first run that shows it, since its other runs would end in the same way.

use super::preparation::PreparedRun;
use super::run_context::RunContext;
use super::study::Assignment;
use crate::commands::rights;
use proofload_model::plan::Run;
use proofload_model::settings::{Settings, setting};

/// What is said of the runs that are left, so many, after one that failed before its load began because nobody can log in to the only server
/// of the study; `None` where the next run may do better, and where that cannot be asked from here.
pub(super) fn told(assignment: &Assignment, context: &RunContext<'_>, failed: Run, left: usize) -> Option<String> {
    if left == 0 || context.heard.failed_under_load {
        return None;
    }
    let Assignment { study, plan, .. } = assignment;
    let prepared = PreparedRun::of(study, plan, failed).ok()?;
    // Load agents elsewhere log in by themselves.
    let url = prepared
        .settings
        .text(setting::ENGINE_URL)
        .ok()
        .filter(|_| prepared.settings.list(setting::AGENTS_LOAD).is_empty())?;
    let is_same = |settings: &Settings| settings.text(setting::ENGINE_URL).is_ok_and(|other| other == url);
    if !plan.points.iter().all(|point| is_same(&plan.settings(study, point.id))) {
        return None;
    }
    let server = rights::closed_server(prepared.engine, url, &prepared.settings)?;
    let others = if left == 1 { "the other run was".to_owned() } else { format!("the other {left} runs were") };
    Some(format!("nobody can log in to {server}, so {others} not tried"))
}
