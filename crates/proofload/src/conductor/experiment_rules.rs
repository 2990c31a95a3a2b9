//! Points that an experiment can be made with, and why none can be made with others: one answer before anything starts, whether a command
//! names the points or the study.

use proofload_load::Rating;
use proofload_model::intervention::{ConfirmAsked, LIVE_LIMITS, PointLoad, resources};
use proofload_model::plan::{Run, expand};
use proofload_model::samples::LatencyClock;
use proofload_model::setting_words::LoadPacing;
use proofload_model::settings::{Settings, setting};
use proofload_model::study::Study;
use proofload_model::units::duration_words;
use proofload_report::findings::attribution::chosen_points;
use proofload_report::findings::{Findings, PointFindings};
use proofload_report::metrics::{LatencyStatistic, MetricKey};
use std::time::Duration;

/// What to do where the load decides throughput.
const INSTEAD: &str = "choose a point of the study that is saturated, or run the study without";

/// Experiments with points, and why there is none with others.
#[derive(Default)]
pub(crate) struct ExperimentChoice {
    /// A run of each point, with what is asked.
    pub(crate) planned: Vec<(Run, ConfirmAsked)>,
    /// Why there is none, with the number of the point, counted from 1.
    pub(crate) refused: Vec<String>,
}

impl ExperimentChoice {
    /// The experiments with points that words choose among those with a finished run.
    pub(crate) fn of(findings: &Findings<'_>, words: &str, asked: ConfirmAsked) -> Result<Self, String> {
        let record = findings.record;
        let attempts = record.by_run();
        let mut choice = Self { planned: Vec::new(), refused: Vec::new() };
        for point in chosen_points(findings, words)? {
            let settings = record.plan.settings(&record.study, point);
            let run = record.plan.runs.iter().find(|run| run.point == point && attempts.finished(run.index).is_some());
            let measured = findings.points.iter().find(|found| found.id == point);
            let why =
                refusal(&settings).or_else(|| nothing_to_lower(&settings)).or_else(|| given_rate(&settings, measured));
            // People count points from 1.
            let number = point.saturating_add(1);
            match (run, why, as_long_as_needed(asked, &settings, measured)) {
                (_, Some(why), _) | (Some(_), None, Err(why)) => choice.refused.push(format!("point {number}: {why}")),
                (None, None, _) => choice.refused.push(format!("point {number} has no finished run")),
                (Some(run), None, Ok(asked)) => choice.planned.push((*run, asked)),
            }
        }
        Ok(choice)
    }
}

/// Why the study asks for experiments (`confirm.points`) that can be made with none of its points; `None` where it asks for none, or one can
/// be made.
pub(crate) fn refused_by_study(study: &Study) -> Option<String> {
    study.settings.get(setting::CONFIRM_POINTS)?;
    let plan = expand(study);
    // Points of a search have their load only once it has chosen it.
    let is_searched = study.settings.get(setting::SEARCH_SETTING).is_some();
    let why =
        |settings: &Settings| refusal(settings).or_else(|| if is_searched { None } else { nothing_to_lower(settings) });
    let each = plan.points.iter().map(|point| why(&plan.settings(study, point.id)));
    let each: Vec<String> = each.collect::<Option<_>>()?;
    Some(format!("no experiment can be made with any point: {}", each.into_iter().next()?))
}

/// Why no experiment can be made with a point of these settings, whatever was measured of it: an experiment needs a load that goes on as long as it
/// is wanted and takes what the database gives, on an instance whose limits are ours.
fn refusal(settings: &Settings) -> Option<String> {
    let kind = settings.text(setting::WORKLOAD_KIND).unwrap_or_default();
    let Some(workload) = proofload_load::workload(kind) else { return Some(format!("unknown workload {kind}")) };
    if workload.rating(settings) != Rating::Window {
        return Some("its load ends by itself, so that resources cannot be lowered in turn while it runs".to_owned());
    }
    if settings.get(setting::DRILL_FAULT).is_some() {
        return Some("it is a drill".to_owned());
    }
    if settings.get(setting::ENGINE_URL).is_some() {
        return Some("limits of an existing server (engine.url) are not ours to change".to_owned());
    }
    LoadPacing::is_paced(settings).then(|| {
        format!(
            "its load is paced: the waits of its terminals decide throughput whatever is lowered, and every resource would be \
             refuted; {INSTEAD} workload.pacing = \"paced\""
        )
    })
}

fn nothing_to_lower(settings: &Settings) -> Option<String> {
    resources(settings, load_of(settings)).0.is_empty().then(|| {
        let limits: Vec<&str> = LIVE_LIMITS.iter().map(|(path, _)| *path).collect();
        format!("it has nothing that can be lowered: it has one user, and the study sets none of {}", limits.join(", "))
    })
}

/// Why a load at a rate that the point kept up with tells nothing; `None` for a load without a rate, and where the rate was not kept up with:
/// there the database decides throughput.
fn given_rate(settings: &Settings, measured: Option<&PointFindings>) -> Option<String> {
    let rate = settings.number(setting::WORKLOAD_RATE).ok()?;
    let is_overloaded = measured.is_some_and(|point| point.overload().is_some());
    (!is_overloaded).then(|| {
        format!(
            "its load comes at {rate} operations per second, which it keeps up with: throughput is that rate whatever is lowered, and \
             every resource would be refuted; {INSTEAD} workload.rate"
        )
    })
}

/// What is asked of a point with visits as long as its operations need, or why that is too long.
fn as_long_as_needed(
    asked: ConfirmAsked,
    settings: &Settings,
    measured: Option<&PointFindings>,
) -> Result<ConfirmAsked, String> {
    // The response time of a load by a schedule has the wait for a user in it.
    let clock =
        if settings.get(setting::WORKLOAD_RATE).is_some() { LatencyClock::Service } else { LatencyClock::Response };
    let mean = MetricKey::latency_of(clock, LatencyStatistic::Mean, "all");
    let mean = measured.and_then(|point| point.metric(mean).ok());
    mean.map_or(Ok(asked), |mean| lasting(asked, Duration::from_nanos(mean.value().max(0.0) as u64)))
}

fn lasting(asked: ConfirmAsked, mean: Duration) -> Result<ConfirmAsked, String> {
    asked.with_response(mean).map_err(|seconds| {
        format!(
            "its operations take {} on average, so that a visit would take {seconds} s, which is more than {} s; choose a point with \
             shorter operations or fewer users",
            duration_words(mean),
            ConfirmAsked::LONGEST_VISIT.as_secs()
        )
    })
}

/// What decides, beside its settings, what of a point can be changed.
pub(crate) fn load_of(settings: &Settings) -> PointLoad {
    let workload = proofload_load::workload(settings.text(setting::WORKLOAD_KIND).unwrap_or_default());
    let engine = proofload_engine::engine(settings.text(setting::ENGINE_KIND).unwrap_or_default());
    PointLoad {
        users: workload.map_or(0, |workload| workload.sessions(settings)),
        is_embedded: engine.is_some_and(|engine| engine.facts().capabilities.embedded),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofload_model::settings::Value;

    fn settings(lines: &[(&str, Value)]) -> Settings {
        let mut settings = Settings::default();
        let usual = [("workload.kind", text("ycsb")), ("workload.virtual_users", Value::Integer(4))];
        settings.0.extend(usual.iter().chain(lines).map(|(path, value)| ((*path).to_owned(), value.clone())));
        settings
    }

    fn text(text: &str) -> Value {
        Value::Text(text.to_owned())
    }

    #[track_caller]
    fn check(lines: &[(&str, Value)], expected: Option<&str>) {
        let found = refusal(&settings(lines));
        let holds = match (&found, expected) {
            (Some(found), Some(part)) => found.contains(part),
            (found, None) => found.is_none(),
            (None, Some(_)) => false,
        };
        assert!(holds, "{found:?} is not {expected:?}");
    }

    #[test]
    fn loads_that_decide_throughput_themselves_are_refused() {
        check(&[], None);
        check(&[("workload.operations", Value::Integer(9))], Some("ends by itself"));
        check(&[("drill.fault", text("kill"))], Some("is a drill"));
        check(&[("engine.url", text("postgresql://there"))], Some("existing server"));
        check(&[("workload.kind", text("tprocc")), ("workload.pacing", text("paced"))], Some("is paced"));
        check(&[("workload.kind", text("tprocc")), ("workload.pacing", text("saturated"))], None);
    }

    #[test]
    fn visits_are_as_long_as_operations_need_or_refused() {
        let mean = |millis: u64| lasting(ConfirmAsked::USUAL, Duration::from_millis(millis));
        assert_eq!(mean(10), Ok(ConfirmAsked::USUAL));
        assert_eq!(mean(900).map(|asked| asked.visit_s), Ok(18));
        let why = mean(20_000).unwrap_err();
        assert!(why.contains("a visit would take 400 s, which is more than 300 s"), "{why}");
        assert_eq!(as_long_as_needed(ConfirmAsked::USUAL, &settings(&[]), None), Ok(ConfirmAsked::USUAL));
    }

    #[test]
    fn a_rate_is_refused_unless_it_is_known_not_to_be_kept_up_with() {
        let at_a_rate = settings(&[("workload.rate", Value::Integer(200))]);
        let why = given_rate(&at_a_rate, None).expect("a reason");
        assert!(why.contains("at 200 operations per second") && why.contains("without workload.rate"), "{why}");
        assert_eq!(given_rate(&settings(&[]), None), None);
    }
}
