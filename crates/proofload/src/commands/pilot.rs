//! What wanted intervals take, by the spread of a short run of the same study.

use proofload_analysis::window::seconds_needed;
use proofload_model::units::duration_words;
use proofload_report::findings::{Findings, evaluate};
use serde_json::{Value as Json, json};
use std::path::Path;
use std::time::Duration;

/// Half-widths of 95 % intervals that are told, as shares.
const WANTED: [f64; 3] = [0.10, 0.05, 0.02];

/// What intervals of one half-width take.
struct Effort {
    half_width: f64,
    /// Repetitions for the ratio between any point and the largest; `None` without blocks in the pilot.
    repetitions: Option<u32>,
    /// Seconds of load for the mean of any point; `None` without a valid one in the pilot.
    seconds: Option<u64>,
}

/// A pilot, evaluated.
pub(super) struct Pilot {
    file: String,
    points: usize,
    needed: Vec<Effort>,
}

impl Pilot {
    /// Reads one.
    ///
    /// # Errors
    /// The record cannot be read, or has nothing to tell.
    pub(super) fn read(path: &Path) -> Result<Self, String> {
        let record = proofload_record::read(path).map_err(|error| error.to_string())?;
        let findings = evaluate(&record);
        let needed: Vec<Effort> = WANTED.into_iter().map(|half_width| needed(&findings, half_width)).collect();
        let file = path.display().to_string();
        if needed.iter().all(|needed| needed.repetitions.is_none() && needed.seconds.is_none()) {
            return Err(format!("{file} has no valid point, so its spread cannot predict a longer run"));
        }
        Ok(Self { file, points: record.plan.points.len(), needed })
    }

    pub(super) fn text(&self) -> String {
        let mut text = format!("\nestimated from the pilot {}, a 95 % interval takes\n", self.file);
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
        text
    }

    pub(super) fn json(&self) -> Json {
        let needed = |needed: &Effort| json!({ "half_width": needed.half_width, "repetitions": needed.repetitions, "measure_s": needed.seconds });
        json!({ "file": self.file, "needed": self.needed.iter().map(needed).collect::<Vec<_>>() })
    }
}

fn needed(findings: &Findings<'_>, half_width: f64) -> Effort {
    let largest = findings.largest().map(|point| point.id);
    let repetitions =
        findings.blocks.as_ref().zip(largest).and_then(|(blocks, largest)| blocks.needed(largest, half_width));
    let windows = findings.valid().flat_map(|point| &point.runs).filter(|run| run.whole.is_none());
    let seconds = windows.filter_map(|run| seconds_needed(run.measured(), half_width)).max();
    Effort { half_width, repetitions, seconds }
}
