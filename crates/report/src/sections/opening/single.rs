//! One valid point: its figures, and what limited it.

use super::next::command;
use super::topic::{Topic, TopicText};
use super::why;
use super::words::{at, reached};
use crate::blocks::{Inline, Prose, prose};
use crate::findings::{Findings, PointFindings, limits_left_out};

pub(super) const TOPIC: Topic = Topic { applies: |findings| findings.valid().next().is_some(), tell, figure: None };

pub(super) fn tell(findings: &Findings<'_>) -> TopicText {
    let Some(point) = findings.valid().next() else { return TopicText::default() };
    let planned = findings.points.len();
    TopicText {
        answer: answer(findings, point),
        held: reached(findings, point),
        broke: if planned == 1 {
            unvaried(findings)
        } else {
            prose!["Unknown: only one of ", planned, " points is valid. "]
        },
        why: why::why(findings, &[point]),
        next: if planned == 1 && limits_left_out(findings.record).is_empty() {
            prose!["Vary the load or a limit to see where it breaks (", Inline::Code("[[factor]]".to_owned()), "). "]
        } else {
            allow(findings)
        },
        ..TopicText::default()
    }
}

/// Why a study of one point shows no level that broke.
fn unvaried(findings: &Findings<'_>) -> Prose {
    match limits_left_out(findings.record).as_slice() {
        [] => prose!["Unknown: the study varies nothing. "],
        [only] => prose!["Unknown: ", (*only).to_owned(), " was left out, and the study varies nothing else. "],
        left => prose!["Unknown: ", left.join(", "), " were left out, and the study varies nothing else. "],
    }
}

/// What allows the limits that were left out.
fn allow(findings: &Findings<'_>) -> Prose {
    match limits_left_out(findings.record).as_slice() {
        [] => Prose::new(),
        left => prose![command("proofload doctor"), " tells how to allow ", left.join(", "), ". "],
    }
}

fn answer(findings: &Findings<'_>, point: &PointFindings) -> Prose {
    let headline = findings.workload.headline;
    let Ok(value) = point.result(headline.key()) else { return Prose::new() };
    let name = (findings.workload.name)(&findings.record.study.settings);
    let mut text = prose![name, " reached ", Inline::brief(&value, headline.axis_unit)];
    if !point.levels.is_empty() {
        text.extend(prose![at(findings, point)]);
    }
    text.extend(prose![". "]);
    text
}
