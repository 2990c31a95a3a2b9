//! Proves the verdict on what bound a warehouse run.
//!
//! Twenty short studies whose bound is known beforehand, because either the device or the cores are throttled far below
//! the other; each calibrates, runs and is judged by itself. The program does the work and judges; this chore writes
//! studies, reads the verdicts out of reports, and counts.

use crate::program::{number_or, proofload, release_program};
use crate::work_folder::WorkFolder;
use serde_json::Value;
use std::path::Path;

/// Trials of each kind unless the first argument says otherwise.
const TRIALS: u32 = 10;
/// Lowest and highest bandwidth of a throttled device, MiB/s; a scan of rows in cache consumes hundreds.
const BANDWIDTH: (f64, f64) = (40.0, 160.0);
/// Lowest and highest CPU time of throttled cores, CPU seconds per second; the device delivers far more than such a
/// core consumes.
const CPU: (f64, f64) = (0.3, 0.9);

/// Resource that is throttled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Resource {
    Device,
    Cores,
}

impl Resource {
    /// The verdict that is right.
    const fn bound(self) -> &'static str {
        match self {
            Self::Device => "I/O-bound",
            Self::Cores => "CPU-bound",
        }
    }
}

/// One study.
#[derive(Debug, Clone, PartialEq)]
struct Trial {
    throttled: Resource,
    engine: &'static str,
    /// The limit in the study file.
    limit: String,
}

/// Runs the trials; an error when a verdict is wrong or unclear.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let trials = number_or(arguments.first(), TRIALS, "trials")?;
    let program = release_program()?;
    let folder = WorkFolder::of("verdicts")?;
    let judged =
        all_of(trials).iter().map(|trial| judge(&program, folder.here(), trial)).collect::<Result<Vec<_>, _>>()?;
    let (right, all) = (judged.iter().filter(|right| **right).count(), judged.len());
    tell(&format!("{right} of {all} verdicts are right"));
    if right == all { Ok(()) } else { Err(format!("{} verdicts are wrong or unclear; see above", all - right)) }
}

/// Both kinds, on both engines, at limits spread over their ranges.
fn all_of(trials: u32) -> Vec<Trial> {
    let share = |number: u32| f64::from(number) / f64::from(trials.saturating_sub(1).max(1));
    let between = |(low, high): (f64, f64), number: u32| low * (high / low).powf(share(number));
    let of = |throttled: Resource| {
        (0..trials).map(move |number| Trial {
            throttled,
            engine: if number % 2 == 0 { "sqlite" } else { "duckdb" },
            limit: match throttled {
                Resource::Device => format!("read_bandwidth = \"{:.0}MiB\"", between(BANDWIDTH, number)),
                Resource::Cores => format!("cpu = {:.2}", between(CPU, number)),
            },
        })
    };
    of(Resource::Device).chain(of(Resource::Cores)).collect()
}

/// The study of a trial. Resource devices have memory for a part of the data; throttled cores have them in cache after
/// the warm-up.
fn study(trial: &Trial) -> String {
    // As much data as takes each engine some seconds, and less memory than that.
    let (scale, memory) = if trial.engine == "duckdb" { ("1", "128MiB") } else { ("0.1", "48MiB") };
    let (memory, rounds) = match trial.throttled {
        Resource::Device => (format!("memory = \"{memory}\"\n"), "rounds = 1"),
        Resource::Cores => (String::new(), "rounds = 3\nwarm_up_rounds = 1"),
    };
    let (engine, limit) = (trial.engine, &trial.limit);
    format!(
        "[study]\nname = \"verdict\"\ntitle = \"A run whose bound is known\"\n\
         [workload]\nkind = \"warehouse\"\nscale_factor = {scale}\nstreams = 2\n{rounds}\n\
         queries = [\"q01\", \"q06\", \"probe_scan\"]\n\
         [engine]\nkind = \"{engine}\"\n[storage]\npath = \"data\"\n[limits]\n{memory}{limit}\n\
         [procedure]\nrestore = \"never\"\ndrift_tolerance = 1.0\n"
    )
}

/// Runs one study and prints its verdict; whether it was right.
fn judge(program: &Path, folder: &Path, trial: &Trial) -> Result<bool, String> {
    let file = folder.join("study.toml");
    std::fs::write(&file, study(trial)).map_err(|error| format!("writing {}: {error}", file.display()))?;
    let record = folder.join("verdict.proof");
    let _there_may_be_none = std::fs::remove_file(&record);
    let of_trial = |error: String| format!("{trial:?}: {error}");
    proofload(program, folder, &["run", "study.toml", "-o", "verdict.proof"]).map_err(of_trial)?;
    let report = ["report", "verdict.proof", "--format", "json"];
    let report = proofload(program, folder, &report).map_err(of_trial)?;
    let (bound, reasons) = verdict_in(&report)?;
    let right = bound == trial.throttled.bound();
    let mark = if right { "right" } else { "WRONG" };
    tell(&format!("{mark}: {}, {}: {bound} ({reasons})", trial.engine, trial.limit));
    Ok(right)
}

/// The bound of a report's only point, and its reasons.
fn verdict_in(report: &str) -> Result<(String, String), String> {
    let report: Value = serde_json::from_str(report).map_err(|error| format!("reading a report: {error}"))?;
    let rating = &report["points"][0]["rating"];
    let bound = rating["bound"].as_str().ok_or("the report has no verdict on what bound the run")?;
    let reasons = rating["reasons"].as_array().into_iter().flatten().filter_map(Value::as_str);
    Ok((bound.to_owned(), reasons.collect::<Vec<_>>().join("; ")))
}

/// A line for whoever waits.
fn tell(line: &str) {
    use std::io::Write;
    // Nobody is left to tell that standard error is closed.
    let _told = writeln!(std::io::stderr(), "{line}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trials_cover_both_kinds_both_engines_and_the_ranges() {
        let trials = all_of(10);
        assert_eq!(trials.len(), 20);
        let of = |throttled, engine| {
            trials.iter().filter(|trial| (trial.throttled, trial.engine) == (throttled, engine)).count()
        };
        for throttled in [Resource::Device, Resource::Cores] {
            assert_eq!((of(throttled, "sqlite"), of(throttled, "duckdb")), (5, 5));
        }
        let limits: Vec<&str> = [0, 9, 10, 19].map(|number: usize| trials[number].limit.as_str()).to_vec();
        assert_eq!(limits, ["read_bandwidth = \"40MiB\"", "read_bandwidth = \"160MiB\"", "cpu = 0.30", "cpu = 0.90"]);
    }

    #[test]
    fn a_verdict_is_read_out_of_a_report() {
        let report = r#"{"points": [{"rating": {"bound": "I/O-bound", "reasons": ["CPU at 3 %", "device at 98 %"]}}]}"#;
        assert_eq!(verdict_in(report), Ok(("I/O-bound".to_owned(), "CPU at 3 %; device at 98 %".to_owned())));
        assert!(verdict_in(r#"{"points": [{"rating": null}]}"#).is_err_and(|why| why.contains("no verdict")));
    }
}
