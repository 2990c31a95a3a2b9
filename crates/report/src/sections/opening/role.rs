//! Next, where one thread of the database was nearly at what a core gives: how a limit of its own shows whether it binds. May not say that
//! it does.

use super::next::command;
use crate::blocks::{Prose, prose};
use crate::findings::{Findings, PointFindings, traces_of};
use proofload_analysis::distribution::mean;
use proofload_model::deployment::InstanceName;
use proofload_model::engines::named_engine;
use proofload_model::intervention::THREAD_CPU;
use proofload_model::series::{self, SeriesName};
use proofload_model::settings::{Settings, setting};
use proofload_record::Attempt;
use std::collections::BTreeSet;

/// Use of one core from which on the only thread of a role is named, %. Source: ours.
const NEARLY_A_CORE: f64 = 90.0;

/// A role with a single thread, and where it runs.
struct SerialRole {
    name: String,
    is_on_standby: bool,
    percent: f64,
}

/// The fullest role of a point with the commands that test it; nothing where it has a limit already, where none is nearly full, and where
/// the database has no threads of its own.
pub(super) fn how_to_test_role(findings: &Findings<'_>, point: &PointFindings, settings: &Settings) -> Prose {
    let is_in_process =
        settings.text(setting::ENGINE_KIND).ok().and_then(named_engine).is_some_and(|known| known.in_process);
    if is_in_process || settings.get(THREAD_CPU).is_some() {
        return Prose::new();
    }
    let Some(role) = fullest(findings, point) else { return Prose::new() };
    let (side, on) = if role.is_on_standby { (" of a standby", " --set limits.thread_on=standby") } else { ("", "") };
    let name = if role.name.contains(' ') { format!("'{}'", role.name) } else { role.name.clone() };
    let run = format!("proofload run STUDY --set limits.thread={name} --set {THREAD_CPU}=1{on}");
    prose![
        format!("The only thread of {}{side} used {:.0} % of a core: ", role.name, role.percent),
        command(&run),
        " and an experiment with that record test whether it bound. "
    ]
}

/// The role that uses most of a core with one thread, in the windows of all runs.
fn fullest(findings: &Findings<'_>, point: &PointFindings) -> Option<SerialRole> {
    let runs = point.runs.iter().filter_map(|run| Some((run.window_seconds()?, findings.finished(run.run.index)?)));
    let runs: Vec<((f64, f64), &Attempt)> = runs.collect();
    let roles = runs.iter().flat_map(|(_, attempt)| &attempt.series);
    let roles = roles.filter(|series| series::threads::ROLE.is_of(&series.probe, &series.name));
    let roles: BTreeSet<(&InstanceName, &str)> =
        roles.map(|series| (&series.instance, series.component.as_str())).collect();
    let used = |(instance, name): (&InstanceName, &str)| {
        let of = |wanted: SeriesName| -> Vec<f64> {
            let traces = runs.iter().flat_map(|(window, attempt)| {
                let found = traces_of(attempt, instance, wanted).into_iter().find(|trace| trace.instance == name);
                found.map(|trace| trace.within(*window).values()).unwrap_or_default()
            });
            traces.collect()
        };
        let (percent, threads) = (of(series::threads::ROLE), of(series::threads::ROLE_THREADS));
        let is_single = !threads.is_empty() && threads.iter().all(|count| *count <= 1.0);
        let is_read = is_single && !percent.is_empty();
        is_read.then(|| SerialRole {
            name: name.to_owned(),
            is_on_standby: instance.is_standby(),
            percent: mean(&percent),
        })
    };
    let full = roles.into_iter().filter_map(used).filter(|role| role.percent >= NEARLY_A_CORE);
    full.max_by(|one, other| one.percent.total_cmp(&other.percent))
}
