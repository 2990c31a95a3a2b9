//! How long the runs of a study take and what is found out before them, for `plan`. Pure; starts nothing.

use crate::conductor::{CalibrationStep, PreparedRun};
use crate::live::Expectation;
use crate::local_time::time_of_day_in;
use crate::run_times::{RunTimes, Span, longest_wait, planned_runs};
use jiff::tz::TimeZone;
use proofload_model::error::Error;
use proofload_model::plan::{Plan, Run, most_runs};
use proofload_model::study::{Study, search};
use proofload_model::time::WallTime;
use proofload_model::units::duration_words;
use std::collections::BTreeSet;
use std::time::Duration;

/// Time under load of all runs.
pub(super) fn total(study: &Study, plan: &Plan) -> Result<Span, Error> {
    let mut total = Span::ZERO;
    let times = times_of_points(study, plan)?;
    for run in &plan.runs {
        total = total.and(times[run.point as usize].span);
    }
    let added = longest_searched(study, plan)?.map(|longest| {
        longest.saturating_mul(u32::try_from(most_runs(study).saturating_sub(plan.runs.len())).unwrap_or(u32::MAX))
    });
    let at_most = total.at_most.zip(added).map(|(total, added)| total.saturating_add(added));
    Ok(Span { at_most, ..total })
}

/// Times of a run of each point, found out once for all of its runs.
pub(super) fn times_of_points(study: &Study, plan: &Plan) -> Result<Vec<RunTimes>, Error> {
    plan.points.iter().map(|point| RunTimes::of(&plan.settings(study, point.id))).collect()
}

/// The longest run that a search may add: at its smallest load or at its largest; `None` where nothing bounds it.
fn longest_searched(study: &Study, plan: &Plan) -> Result<Option<Duration>, Error> {
    let mut longest = Some(Duration::ZERO);
    let Some(search) = search(&study.settings)? else { return Ok(longest) };
    for point in &plan.points {
        for load in [&search.from, &search.to] {
            let settings = plan.settings(study, point.id).with([(&search.setting, load)]);
            let at_most = RunTimes::of(&settings)?.span.at_most;
            longest = longest.zip(at_most).map(|(longest, most)| longest.max(most));
        }
    }
    Ok(longest)
}

/// The longest that all runs wait for a quiet host, which no other time has in it: `, plus up to 22 min of waiting for a quiet host`, or nothing.
pub(super) fn waits(study: &Study, plan: &Plan) -> String {
    let of_point: Vec<Duration> =
        plan.points.iter().map(|point| longest_wait(&plan.settings(study, point.id))).collect();
    let added = u32::try_from(most_runs(study).saturating_sub(plan.runs.len())).unwrap_or(u32::MAX);
    let longest = of_point.iter().max().copied().unwrap_or_default();
    let planned = plan.runs.iter().map(|run| of_point[run.point as usize]);
    let waits = planned.fold(longest.saturating_mul(added), Duration::saturating_add);
    if waits.is_zero() {
        return String::new();
    }
    format!(", plus up to {} of waiting for a quiet host", duration_words(waits))
}

/// All of a study, from now on and about, with building and what comes between loads: `about 12 min, until 19:25 if it began now`.
pub(super) fn in_all(study: &Study, plan: &Plan, now: WallTime, zone: &TimeZone) -> String {
    let runs = planned_runs(study, plan);
    let expectation = Expectation::of(runs.iter().map(|run| (run, false)), most_runs(study));
    let Some(left) = expectation.left(None) else {
        return "in total: as long as the work takes, plus time to build, restore, start and verify".to_owned();
    };
    let about = if left.at_most { "at most about" } else { "about" };
    let ends = time_of_day_in(now, left.time, zone);
    format!(
        "in total: {about} {}, including time to build, restore, start and verify; if started now, it ends {ends}",
        duration_words(left.time)
    )
}

/// What is found out before the first runs: how often each part is.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct CalibrationPlan {
    pub(super) device: usize,
    pub(super) scans: usize,
    pub(super) queries: usize,
}

impl CalibrationPlan {
    /// Counts steps by the keys under which a run would find what is known already.
    pub(super) fn of(study: &Study, plan: &Plan) -> Result<Self, Error> {
        let (mut known, mut count) = (BTreeSet::new(), Self::default());
        for point in &plan.points {
            let run = Run { index: 0, point: point.id, repetition: 0, sentinel: false, block: None, seed: 0 };
            let prepared = PreparedRun::of(study, plan, run)?;
            for step in CalibrationStep::wanted(&prepared) {
                if known.insert(step.key(&prepared)) {
                    match step {
                        CalibrationStep::Device => count.device += 1,
                        CalibrationStep::Scan { .. } => count.scans += 1,
                        CalibrationStep::Queries { queries, .. } => count.queries += queries.len(),
                    }
                }
            }
        }
        Ok(count)
    }

    /// A line, or nothing.
    pub(super) fn text(&self) -> String {
        let Self { device, scans, queries } = self;
        if *scans == 0 {
            return String::new();
        }
        let times = |count: usize| if count == 1 { "once".to_owned() } else { format!("{count} times") };
        let costs = if *queries == 0 { String::new() } else { format!(", the cost of queries ({queries} queries)") };
        format!(
            "calibration before the first runs: reads of the device ({}), a scan cold and in cache ({}){costs}\n",
            times(*device),
            times(*scans)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::catalogue;
    use proofload_model::plan::expand;
    use proofload_model::study::validate;

    const WAREHOUSE: &str = "[study]\nname = \"w\"\ntitle = \"W\"\n[workload]\nkind = \"warehouse\"\nscale_factor = 0.01\n\
        streams = 2\nrounds = 3\n";
    const PLACE: &str = "[engine]\nkind = \"sqlite\"\n[storage]\npath = \"data\"\n";

    fn planned(workload: &str, rest: &str) -> (Study, Plan) {
        let text = format!("{WAREHOUSE}{workload}{PLACE}{rest}");
        let study = validate(&text, &[], &catalogue()).expect("a valid study");
        let plan = expand(&study);
        (study, plan)
    }

    #[track_caller]
    fn check_run(workload: &str, expected: &str) {
        let (study, plan) = planned(workload, "");
        assert_eq!(RunTimes::of(&plan.settings(&study, 0)).expect("times").text(), expected);
    }

    #[track_caller]
    fn check_calibration(workload: &str, rest: &str, expected: (usize, usize, usize)) {
        let (study, plan) = planned(workload, rest);
        let CalibrationPlan { device, scans, queries } = CalibrationPlan::of(&study, &plan).expect("a plan");
        assert_eq!((device, scans, queries), expected);
    }

    #[test]
    fn runs_by_rounds_are_planned_by_their_work() {
        check_run("", "132 queries, as long as they take");
        // No stream waits for another: 3 rounds of 22 queries of a minute each.
        check_run("query_cap = \"60s\"\n", "132 queries, at most 1 h 6 min");
        check_run("queries = [\"q01\", \"q06\"]\nquery_cap = \"60s\"\n", "12 queries, at most 6 min");
    }

    #[test]
    fn waiting_for_a_quiet_host_is_told_beside_the_load() {
        let told = |procedure: &str| {
            let text = format!(
                "[study]\nname = \"w\"\ntitle = \"W\"\nrepetitions = 2\n[workload]\nkind = \"tprocc\"\n\
                 warehouses = 1\nvirtual_users = 1\n[engine]\nkind = \"null\"\n[procedure]\n{procedure}"
            );
            let study = validate(&text, &[], &catalogue()).expect("a valid study");
            waits(&study, &expand(&study))
        };
        assert_eq!(told("measure = \"60s\"\n"), "");
        // Two runs: each of three attempts waits for 3 min, and for one more before each of the two further ones.
        let both = told("wait_for_quiet = \"3m\"\nretries = 2\n");
        assert_eq!(both, ", plus up to 22 min of waiting for a quiet host");
    }

    #[test]
    fn what_is_known_already_is_not_found_out_again() {
        let streams = "[[factor]]\nsetting = \"workload.streams\"\nlevels = [1, 2]\n";
        check_calibration("", streams, (1, 1, 0));
        check_calibration("calibrate = \"none\"\n", streams, (0, 0, 0));
        let cores = "[[factor]]\nsetting = \"limits.cores\"\nlevels = [1, 2]\n";
        check_calibration("calibrate = \"queries\"\nqueries = [\"q01\", \"q06\"]\n", cores, (2, 2, 4));
        let engines = "[[factor]]\nsetting = \"engine.kind\"\nlevels = [\"sqlite\", \"postgresql\"]\n";
        check_calibration("", engines, (1, 2, 0));
    }
}
