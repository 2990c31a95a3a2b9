//! How long the runs of a study take and what is found out before them, for `plan`. Pure; starts nothing.

use crate::conductor::{CalibrationStep, PreparedRun};
use proofload_analysis::recovery::BACK_FOR;
use proofload_load::Work;
use proofload_model::drill::drill;
use proofload_model::error::Error;
use proofload_model::plan::{Plan, Run, most_runs};
use proofload_model::settings::Settings;
use proofload_model::study::{Study, procedure, search};
use proofload_model::units::duration_text;
use serde_json::{Value as Json, json};
use std::collections::BTreeSet;
use std::time::Duration;

/// Time under load. Restoring, starting and verifying come on top.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    at_least: Duration,
    /// Upper bound; `None`: as long as its operations take.
    at_most: Option<Duration>,
}

/// One run: warm-up and window together, or the work at whose end it ends.
pub(super) struct Times {
    pub(super) span: Span,
    pub(super) work: Option<Work>,
}

impl Times {
    pub(super) fn of(settings: &Settings) -> Result<Self, Error> {
        let workload = proofload_load::workload(settings.text("workload.kind")?);
        if let Some(work) = workload.and_then(|workload| workload.work(settings)) {
            return Ok(Self { span: Span { at_least: Duration::ZERO, at_most: work.at_most }, work: Some(work) });
        }
        let procedure = procedure(settings)?;
        let least = procedure.warm_up.at_least;
        let most = if procedure.has_fixed_warm_up() { least } else { procedure.warm_up.at_most };
        let once = most.saturating_add(procedure.longest_measured());
        let (drilled, drilled_at_most) = after_window(settings)?;
        let at_most = Some(once.saturating_add(drilled_at_most).saturating_mul(1 + procedure.retries));
        Ok(Self { span: Span { at_least: least + procedure.measure + drilled, at_most }, work: None })
    }

    /// Describes it in words.
    pub(super) fn text(&self) -> String {
        let Some(Work { operations, word, .. }) = self.work else { return self.span.text() };
        format!("{operations} {word}, {}", self.span.text())
    }
}

/// Load after the window of a drill: at least until users can have been back for so long, at most until the time is up; nothing without one.
fn after_window(settings: &Settings) -> Result<(Duration, Duration), Error> {
    let Some(asked) = drill(settings)? else { return Ok((Duration::ZERO, Duration::ZERO)) };
    let by_fault = asked.fault.is_some_and(|fault| fault.takes_the_primary());
    let lasts = if by_fault { asked.promote_after } else { asked.lasts };
    let back = Duration::from_secs(BACK_FOR as u64);
    Ok((lasts + back, asked.phase + lasts.max(asked.within) + back))
}

impl Span {
    /// Sums the spans of all runs.
    pub(super) fn total(study: &Study, plan: &Plan) -> Result<Self, Error> {
        let mut total = Self { at_least: Duration::ZERO, at_most: Some(Duration::ZERO) };
        for run in &plan.runs {
            let Self { at_least, at_most } = Times::of(&plan.settings(study, run.point))?.span;
            total.at_least += at_least;
            total.at_most = total.at_most.zip(at_most).map(|(total, most)| total.saturating_add(most));
        }
        let added = Self::longest_searched(study, plan)?.at_most.map(|longest| {
            longest.saturating_mul(u32::try_from(most_runs(study).saturating_sub(plan.runs.len())).unwrap_or(u32::MAX))
        });
        total.at_most = total.at_most.zip(added).map(|(total, added)| total.saturating_add(added));
        Ok(total)
    }

    /// The longest run that a search may add: at its smallest load or at its largest.
    fn longest_searched(study: &Study, plan: &Plan) -> Result<Self, Error> {
        let mut longest = Self { at_least: Duration::ZERO, at_most: Some(Duration::ZERO) };
        let Some(search) = search(&study.settings)? else { return Ok(longest) };
        for point in &plan.points {
            for load in [&search.from, &search.to] {
                let settings = plan.settings(study, point.id).with([(&search.setting, load)]);
                let at_most = Times::of(&settings)?.span.at_most;
                longest.at_most = longest.at_most.zip(at_most).map(|(longest, most)| longest.max(most));
            }
        }
        Ok(longest)
    }

    /// Describes it in words.
    pub(super) fn text(self) -> String {
        match self.at_most {
            None if self.at_least.is_zero() => "as long as they take".to_owned(),
            None => format!("{} and more", minutes(self.at_least)),
            Some(most) if self.at_least.is_zero() => format!("at most {}", minutes(most)),
            Some(most) => format!("{} to {}", minutes(self.at_least), minutes(most)),
        }
    }

    /// Seconds, for programs; null where nothing bounds them.
    pub(super) fn json(self) -> Json {
        json!({ "at_least": self.at_least.as_secs_f64(), "at_most": self.at_most.map(|most| most.as_secs_f64()) })
    }
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
        let costs = if *queries == 0 { String::new() } else { format!(", what queries cost ({queries} queries)") };
        format!(
            "calibration before the first runs: reads of the device ({}), a scan cold and in cache ({}){costs}\n",
            times(*device),
            times(*scans)
        )
    }
}

/// Whole seconds, or minutes and seconds.
pub(super) fn minutes(time: Duration) -> String {
    let seconds = time.as_secs();
    if seconds < 60 {
        duration_text(Duration::from_secs(seconds))
    } else {
        format!("{}m{:02}s", seconds / 60, seconds % 60)
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
        assert_eq!(Times::of(&plan.settings(&study, 0)).expect("times").text(), expected);
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
        check_run("query_cap = \"60s\"\n", "132 queries, at most 66m00s");
        check_run("queries = [\"q01\", \"q06\"]\nquery_cap = \"60s\"\n", "12 queries, at most 6m00s");
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
