//! Final figures and every second as OpenMetrics text 1.0: base units, one family after another, times ascending in each series,
//! `# EOF` at the end. Every sample has a time, so that a time series database can be filled with it afterwards.
//!
//! Source: the OpenMetrics specification, version 1.0.0, sections "Text Format" and "Overall Structure".

mod family;
mod results;
mod seconds;
mod units;

use super::Selection;
use super::time::time_zero_us;
use crate::findings::evaluate;
use family::{Family, Labels, Page};
use proofload_record::{Attempt, Record};
use std::io::{Result, Write};

/// Writes the text.
pub(super) fn write(record: &Record, selection: &Selection, to: &mut dyn Write) -> Result<()> {
    let findings = evaluate(record);
    let runs: Vec<Run<'_>> = selection.finished(record).map(Run::of).collect();
    let mut page = Page::new(to);
    infos(record, &runs, &mut page)?;
    results::write(&findings, &runs, &mut page)?;
    seconds::write(&runs, &mut page)?;
    page.end()
}

/// A finished run with its time zero.
struct Run<'r> {
    attempt: &'r Attempt,
    zero_us: i64,
}

impl<'r> Run<'r> {
    fn of(attempt: &'r Attempt) -> Self {
        Self { attempt, zero_us: time_zero_us(attempt) }
    }

    /// The end of a second of the run, microseconds since 1970.
    fn end_of(&self, second: u64) -> i64 {
        self.zero_us + (i64::try_from(second).unwrap_or(0) + 1) * 1_000_000
    }

    /// What every series of it is told apart by.
    fn labels(&self) -> Labels {
        let run = self.attempt.run;
        Labels::of(&[("run", &run.index.to_string()), ("point", &run.point.to_string())])
    }
}

/// What the numbers of points and runs stand for; to be joined with the series.
fn infos(record: &Record, runs: &[Run<'_>], page: &mut Page<'_>) -> Result<()> {
    let study = Family { name: "proofload_study", kind: "info", unit: "", help: "The study of this record." };
    page.family(&study)?;
    let program = record.sessions.first().map_or("", |session| session.program.as_str());
    let words = [("study", record.study.name()), ("title", record.study.title()), ("program", program)];
    page.sample("proofload_study_info", &Labels::of(&words), 1.0, record.created.0)?;
    let points = Family { name: "proofload_point", kind: "info", unit: "", help: "Levels of a point." };
    page.family(&points)?;
    for point in &record.plan.points {
        let mut labels = Labels::of(&[("point", &point.id.to_string())]);
        for (setting, level) in &point.levels {
            labels.add(setting, &level.to_string());
        }
        page.sample("proofload_point_info", &labels, 1.0, record.created.0)?;
    }
    page.family(&Family { name: "proofload_run", kind: "info", unit: "", help: "A finished run of a point." })?;
    for run in runs {
        let mut labels = run.labels();
        labels.add("repetition", &run.attempt.run.repetition.to_string());
        labels.add("sentinel", if run.attempt.run.sentinel { "true" } else { "false" });
        page.sample("proofload_run_info", &labels, 1.0, run.zero_us)?;
    }
    Ok(())
}
