//! Next, where nothing was tested by intervention yet: the command that does it, or what it would take.

use super::next::command;
use super::role::how_to_test_role;
use crate::blocks::{Inline, Prose, prose};
use crate::findings::{Findings, PointFindings};
use proofload_model::intervention::{ConfirmAsked, PointLoad, resources};
use proofload_model::setting_words::LoadPacing;
use proofload_model::settings::{Settings, setting};
use proofload_model::units::duration_words;
use std::time::Duration;

/// Beginning of settings that are limits of the database.
const LIMITS: &str = "limits.";

/// How to test what bound the largest point; nothing where it was tested, of a drill, and without a result.
pub(super) fn how_to_test(findings: &Findings<'_>) -> Prose {
    let Some(point) = findings.largest().filter(|_| findings.attributions.is_empty()) else { return Prose::new() };
    let settings = findings.record.plan.settings(&findings.record.study, point.id);
    if settings.get(setting::DRILL_FAULT).is_some() {
        return Prose::new();
    }
    if settings.get(setting::ENGINE_URL).is_some() {
        return prose!["What bound it cannot be tested: limits of an existing server are not ours to lower. "];
    }
    if ends_by_itself(point) || settings.get(setting::WORKLOAD_OPERATIONS).is_some() {
        return prose!["What bound it cannot be tested: the load ends before limits could be lowered in turn. "];
    }
    if decides_throughput(point, &settings) {
        return prose![
            "What bound it cannot be tested: the load asks for as much throughput as it gets, whatever is lowered. A saturated point can be tested. "
        ];
    }
    let confirm = command(&format!("proofload confirm {}", findings.file_named()));
    // Whether the load has one user, or runs in the database's process, makes it shorter.
    let (plans, _) = resources(&settings, PointLoad { users: 2, is_embedded: false });
    if !plans.iter().any(|plan| plan.name.starts_with(LIMITS)) {
        let (cpu, reads) =
            (Inline::Code(setting::LIMITS_CPU.to_owned()), Inline::Code(setting::LIMITS_READ_IOPS.to_owned()));
        let with_limits =
            prose!["With limits set, such as ", cpu, " or ", reads, ", ", confirm, " tests what bound it. "];
        return [with_limits, how_to_test_role(findings, point, &settings)].concat();
    }
    let minutes = ConfirmAsked::of(&settings).longest(&plans, &settings).as_secs().div_ceil(60);
    let time = duration_words(Duration::from_secs(60 * minutes));
    let tests = prose![confirm, " tests what bound it, in at most ", time, ". "];
    [tests, how_to_test_role(findings, point, &settings)].concat()
}

/// Whether the load, not the database, decides throughput: a paced one, and one at a rate that was kept up with.
fn decides_throughput(point: &PointFindings, settings: &Settings) -> bool {
    LoadPacing::is_paced(settings) || (settings.get(setting::WORKLOAD_RATE).is_some() && point.overload().is_none())
}

fn ends_by_itself(point: &PointFindings) -> bool {
    point.runs.iter().any(|run| run.whole.is_some())
}
