//! One valid point: its figures, and what limited it.

use super::topic::{Topic, TopicText};
use super::why;
use super::words::{at, reached};
use crate::blocks::{Inline, Prose, prose};
use crate::findings::{Findings, PointFindings};

pub(super) const TOPIC: Topic = Topic { applies: |findings| findings.valid().next().is_some(), tell, figure: None };

pub(super) fn tell(findings: &Findings<'_>) -> TopicText {
    let Some(point) = findings.valid().next() else { return TopicText::default() };
    let planned = findings.points.len();
    TopicText {
        answer: answer(findings, point),
        held: reached(findings, point),
        broke: if planned == 1 {
            prose!["Unknown: the study varies nothing. "]
        } else {
            prose!["Unknown: only one of ", planned, " points is valid. "]
        },
        why: why::why(findings, &[point]),
        next: if planned == 1 {
            prose!["Vary the load or a limit to see where it breaks (", Inline::Code("[[factor]]".to_owned()), "). "]
        } else {
            Prose::new()
        },
        ..TopicText::default()
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
