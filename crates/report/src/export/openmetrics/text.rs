//! The whole text: what points and runs are, final figures, every second, the end.

use super::super::Selection;
use super::family::{Family, Labels, Page};
use super::run::Run;
use crate::findings::{Findings, PointFindings, evaluate};
use proofload_record::Record;
use std::io::{Result, Write};

/// Writes final figures of valid points and every second of finished runs as OpenMetrics text, all with times.
///
/// # Errors
/// Those of the writer.
pub fn write_openmetrics(record: &Record, selection: &Selection, to: &mut dyn Write) -> Result<()> {
    let findings = evaluate(record);
    let runs: Vec<Run<'_>> = selection.finished(record).map(Run::of).collect();
    let mut page = Page::new(to);
    infos(&findings, &runs, &mut page)?;
    super::results::write(&findings, &runs, &mut page)?;
    super::seconds::write(&runs, &mut page)?;
    page.end()
}

/// What the numbers of points and runs stand for; to be joined with the series.
fn infos(findings: &Findings<'_>, runs: &[Run<'_>], page: &mut Page<'_>) -> Result<()> {
    let record = findings.record;
    let study = Family { name: "proofload_study", kind: "info", unit: "", help: "The study in this record." };
    page.family(&study);
    let program = record.sessions.first().map_or("", |session| session.program.as_str());
    let mut words =
        Labels::of(&[("study", record.study.name()), ("title", record.study.title()), ("program", program)]);
    if let Some(profile) = crate::workloads::profile(&record.study.settings) {
        words.add("profile", &profile);
    }
    page.sample("proofload_study_info", &words, 1.0, record.created.0)?;
    let points = Family { name: "proofload_point", kind: "info", unit: "", help: "Levels and estimand of a point." };
    page.family(&points);
    for point in &record.plan.points {
        let mut labels = Labels::of(&[("point", &point.id.to_string())]);
        for (setting, level) in &point.levels {
            labels.add(setting, &level.to_string());
        }
        let found = findings.points.iter().find(|found| found.id == point.id);
        if let Some(name) = found.and_then(PointFindings::estimand_name) {
            labels.add("estimand", name);
        }
        page.sample("proofload_point_info", &labels, 1.0, record.created.0)?;
    }
    page.family(&Family { name: "proofload_run", kind: "info", unit: "", help: "A finished run of a point." });
    for run in runs {
        let mut labels = run.labels();
        labels.add("repetition", &run.attempt.run.repetition.to_string());
        labels.add("sentinel", if run.attempt.run.sentinel { "true" } else { "false" });
        page.sample("proofload_run_info", &labels, 1.0, run.zero_us)?;
    }
    Ok(())
}
