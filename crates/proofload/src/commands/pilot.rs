//! What wanted intervals take, by the spread of a short run of the same study.

use proofload_analysis::window::seconds_needed;
use proofload_model::plan::{Plan, expand};
use proofload_model::settings::{Settings, setting};
use proofload_model::study::Study;
use proofload_model::units::duration_words;
use proofload_report::findings::{Findings, PointFindings, RunFindings, evaluate, reach};
use serde_json::{Value as Json, json};
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

/// Half-widths of 95 % intervals that are told, as shares.
const WANTED: [f64; 3] = [0.10, 0.05, 0.02];

/// Seconds of a window that tell how long another must be at least, as [`seconds_needed`] has it.
const SHORTEST: usize = 10;

/// What intervals of one half-width take.
struct Effort {
    half_width: f64,
    /// Repetitions for the ratio between any point and the largest; `None` without blocks in the pilot.
    repetitions: Option<u32>,
    /// Seconds of load for the mean of any point; `None` without one in the pilot that tells how throughput varies.
    seconds: Option<u64>,
}

/// A pilot, evaluated.
pub(super) struct Pilot {
    file: String,
    /// Name of the study that it measured.
    measured: String,
    /// Name of the study that is planned.
    planned: String,
    points: usize,
    needed: Vec<Effort>,
    /// Seconds of load that hold ten recurrences of all whose period is known; `None` where no period is. No mean is told to take less.
    recurrences: Option<u64>,
}

impl Pilot {
    /// Reads one of a study.
    ///
    /// # Errors
    /// The record cannot be read, is of another workload or engine, or has nothing to tell.
    pub(super) fn read(path: &Path, study: &Study) -> Result<Self, String> {
        let record = proofload_record::read(path).map_err(|error| error.to_string())?;
        let (theirs, ours) = (kinds(&record.study, &record.plan), kinds(study, &expand(study)));
        if theirs.is_disjoint(&ours) {
            let told = |kinds: &BTreeSet<String>| kinds.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
            return Err(format!(
                "the pilot {} of the study {} measured {}, and the study {} measures {}: use a record of the same workload and engine",
                path.display(),
                record.study.name(),
                told(&theirs),
                study.name(),
                told(&ours)
            ));
        }
        let findings = evaluate(&record);
        let needed: Vec<Effort> = WANTED.into_iter().map(|half_width| needed(&findings, half_width)).collect();
        let (file, recurrences) = (path.display().to_string(), for_recurrences(&findings));
        if needed.iter().all(|needed| needed.repetitions.is_none() && needed.seconds.is_none()) {
            return Err(tells_nothing(&file, &findings, study.name()));
        }
        let (measured, planned) = (record.study.name().to_owned(), study.name().to_owned());
        Ok(Self { file, measured, planned, points: record.plan.points.len(), needed, recurrences })
    }

    pub(super) fn text(&self) -> String {
        let of = if self.measured == self.planned { String::new() } else { format!(" of the study {}", self.measured) };
        let (file, planned) = (&self.file, &self.planned);
        let mut text = format!("\nestimated from the pilot {file}{of}, a 95 % interval takes in {planned}\n");
        for Effort { half_width, repetitions, seconds } in &self.needed {
            let mean = seconds.map_or_else(
                || "no valid point to estimate the time for a mean".to_owned(),
                |seconds| format!("{} of load for a mean", duration_words(Duration::from_secs(seconds))),
            );
            let ratio = match repetitions {
                _ if self.points < 2 => String::new(),
                Some(repetitions) => format!(", {repetitions} repetitions for a ratio between points"),
                None => ", too few repetitions for a ratio (needs 4)".to_owned(),
            };
            text.push_str(&format!("  {:<6} {mean}{ratio}\n", format!("±{:.0} %:", 100.0 * half_width)));
        }
        if self.needed.iter().all(|needed| needed.seconds.is_none()) {
            return text;
        }
        text.push_str(&match self.recurrences {
            Some(seconds) => {
                let time = duration_words(Duration::from_secs(seconds));
                format!("  a mean takes at least {time}, for ten recurrences of what recurs in the pilot\n")
            }
            None => {
                "  recurrence unknown: what recurs more rarely than the pilot shows is not in these times\n".to_owned()
            }
        });
        text
    }

    pub(super) fn json(&self) -> Json {
        let needed = |needed: &Effort| json!({ "half_width": needed.half_width, "repetitions": needed.repetitions, "measure_s": needed.seconds });
        json!({
            "file": self.file, "study": self.measured, "needed": self.needed.iter().map(needed).collect::<Vec<_>>(),
            "recurrences_s": self.recurrences,
        })
    }
}

/// Workloads of a study's points, each with its engine.
fn kinds(study: &Study, plan: &Plan) -> BTreeSet<String> {
    let kind = |settings: &Settings| {
        let [workload, engine] =
            [setting::WORKLOAD_KIND, setting::ENGINE_KIND].map(|path| settings.text(path).unwrap_or("?").to_owned());
        format!("{workload} on {engine}")
    };
    plan.points.iter().map(|point| kind(&plan.settings(study, point.id))).collect()
}

/// Why a pilot predicts nothing of the planned study.
fn tells_nothing(file: &str, findings: &Findings<'_>, planned: &str) -> String {
    let telling = telling(findings);
    let windows = telling.iter().flat_map(|point| &point.runs).filter(|run| run.whole.is_none());
    let windows = windows.map(|run| run.measured().len());
    let pilot = format!("the pilot {file} of the study {}", findings.record.study.name());
    match windows.max().filter(|longest| *longest < SHORTEST) {
        Some(longest) => format!(
            "{pilot} has no window longer than {longest} s, which gives no interval for {planned}: measure {SHORTEST} s or more in the pilot"
        ),
        None => format!(
            "{pilot} has no valid point, nor one that is void only because throughput varied too much, so it cannot predict a longer run of \
             {planned}"
        ),
    }
}

/// What it takes by points that are valid, or void only because they varied too much: those are the ones that a pilot is for.
fn needed(findings: &Findings<'_>, half_width: f64) -> Effort {
    let telling = telling(findings);
    let value = |point: &PointFindings| point.throughput.as_ref().map_or(f64::NEG_INFINITY, |found| found.value);
    let largest = telling.iter().max_by(|a, b| value(a).total_cmp(&value(b))).map(|point| point.id);
    let repetitions =
        findings.blocks.as_ref().zip(largest).and_then(|(blocks, largest)| blocks.needed(largest, half_width));
    let windows = telling.iter().flat_map(|point| &point.runs).filter(|run| run.whole.is_none());
    let seconds = windows.filter_map(|run| seconds_needed(run.measured(), half_width)).max();
    let seconds = seconds.map(|seconds| seconds.max(for_recurrences(findings).unwrap_or(0)));
    Effort { half_width, repetitions, seconds }
}

fn telling<'f>(findings: &'f Findings<'_>) -> Vec<&'f PointFindings> {
    let tells = |point: &&PointFindings| !point.runs.is_empty() && point.runs.iter().all(RunFindings::tells_spread);
    findings.points.iter().filter(tells).collect()
}

/// Seconds of load that hold ten recurrences of all that is known to recur at points that tell; `None` where no period is known.
fn for_recurrences(findings: &Findings<'_>) -> Option<u64> {
    let telling = telling(findings);
    let runs = telling.iter().flat_map(|point| &point.runs);
    runs.filter_map(|run| reach(findings, run)?.seconds_for_recurrences()).max()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofload_analysis::validity::VoidReason;
    use proofload_analysis::window::WindowVerdict;
    use proofload_model::settings::Value;
    use proofload_report::findings::{Verdict, Void, VoidClass};

    /// A minute of load that varies by a third from second to second.
    fn varying() -> Vec<f64> {
        (0..60).map(|second| if second % 2 == 0 { 100.0 } else { 200.0 }).collect()
    }

    /// Measuring longer is what such a point needs, so its spread is what is asked for.
    #[test]
    fn a_point_that_varied_too_much_tells_how_long_to_measure() {
        let stored = concat!(env!("CARGO_MANIFEST_DIR"), "/../report/tests/records/format-4-memory.proof");
        let record = proofload_record::read(Path::new(stored)).expect("the record is read");
        let after = |reason: VoidReason, more: usize| {
            let mut findings = evaluate(&record);
            for point in &mut findings.points {
                let void = Void { class: VoidClass::NotSteady, text: reason.to_string() };
                point.verdict = Verdict::Void(vec![void.clone()]);
                for run in &mut point.runs {
                    run.per_second = varying();
                    run.voids = vec![void.clone(); 1 + more];
                    let window = run.window.as_mut().expect("it was measured");
                    (window.from, window.to) = (0, 60);
                    run.judged.as_mut().expect("it is judged by movement").verdict =
                        WindowVerdict::Void(reason.clone());
                }
            }
            needed(&findings, 0.05).seconds
        };
        let varied = VoidReason::Useless { half_width: 0.4 };
        assert_eq!(after(varied.clone(), 0), seconds_needed(&varying(), 0.05));
        assert!(after(varied.clone(), 0).is_some());
        assert_eq!(after(varied, 1), None, "another reason stands against it");
        assert_eq!(after(VoidReason::NoThroughput, 0), None);
    }

    #[test]
    fn a_pilot_is_of_the_same_workload_and_long_enough() {
        let stored = concat!(env!("CARGO_MANIFEST_DIR"), "/../report/tests/records/format-4-memory.proof");
        let mut record = proofload_record::read(Path::new(stored)).expect("the record is read");
        let own = Pilot::read(Path::new(stored), &record.study).err();
        assert!(own.is_none_or(|why| !why.contains(" measures ")));
        let mut findings = evaluate(&record);
        for run in findings.points.iter_mut().flat_map(|point| &mut point.runs) {
            run.voids.clear();
            run.per_second = vec![100.0; 6];
            let window = run.window.as_mut().expect("it was measured");
            (window.from, window.to) = (0, 6);
        }
        let told = tells_nothing("x.proof", &findings, "mine");
        assert!(told.contains("no window longer than 6 s") && told.contains("measure 10 s or more"), "{told}");
        let name = record.study.name();
        let named = format!("the pilot x.proof of the study {name} has no window");
        assert!(told.starts_with(&named) && told.contains("no interval for mine: "), "{told}");
        drop(findings);
        let other = Value::Text("other".to_owned());
        record.study.settings.0.insert("workload.kind".to_owned(), other);
        let Err(refused) = Pilot::read(Path::new(stored), &record.study) else { panic!("it is another workload") };
        let name = record.study.name();
        assert!(refused.contains(&format!(" of the study {name} measured ")), "{refused}");
        assert!(refused.contains(&format!("and the study {name} measures other on ")), "{refused}");
    }

    #[test]
    fn both_studies_are_named_where_they_are_two() {
        let text = |measured: &str| {
            let needed = vec![Effort { half_width: 0.1, repetitions: None, seconds: Some(60) }];
            let (file, planned) = ("x.proof".to_owned(), "mine".to_owned());
            Pilot { file, measured: measured.to_owned(), planned, points: 1, needed, recurrences: None }.text()
        };
        let own = text("mine");
        assert!(own.starts_with("\nestimated from the pilot x.proof, a 95 % interval takes in mine\n"), "{own}");
        let other = text("theirs");
        assert!(other.starts_with("\nestimated from the pilot x.proof of the study theirs, a 95 % "), "{other}");
    }

    /// Throughput that dips every 80 s is known well after 40 s by its spread alone, but not for lack of dips.
    #[test]
    fn no_length_is_told_that_holds_fewer_than_ten_recurrences() {
        let stored = concat!(env!("CARGO_MANIFEST_DIR"), "/../report/tests/records/format-4-memory.proof");
        let record = proofload_record::read(Path::new(stored)).expect("the record is read");
        let mut findings = evaluate(&record);
        let dips: Vec<f64> = (0..400).map(|second| if second % 80 >= 48 { 75.0 } else { 100.0 }).collect();
        for run in findings.points.iter_mut().flat_map(|point| &mut point.runs) {
            run.per_second = dips.clone();
            run.voids.clear();
            let window = run.window.as_mut().expect("it was measured");
            (window.from, window.to) = (0, 400);
        }
        assert!(seconds_needed(&dips, 0.5).expect("they vary") < 100);
        let seconds = needed(&findings, 0.5).seconds.expect("the points tell");
        assert!((780..=820).contains(&seconds), "{seconds}");
        assert_eq!(for_recurrences(&findings), Some(seconds));
    }
}
