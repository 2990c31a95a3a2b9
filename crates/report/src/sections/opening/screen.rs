//! The first screen from the topic of the study and from what holds for every study.

use super::topic::TopicText;
use super::words::at;
use super::{drills, figure, next, sure, topics, verdict};
use crate::blocks::{Opening, Prose, prose};
use crate::findings::Findings;
use crate::findings::attribution::conclusion;
use crate::sections::charts::capital;

/// The first screen of a paper.
pub(crate) fn opening(findings: &Findings<'_>) -> Opening {
    let (state, verdict) = verdict::verdict(findings);
    let topic = topics::topic(findings).filter(|_| findings.valid().next().is_some());
    let told = topic.map_or_else(|| drills::tell_losses(findings), |topic| (topic.tell)(findings));
    let own = topic.and_then(|topic| topic.figure).and_then(|figure| figure(findings));
    let answer = trimmed(told.answer.clone());
    Opening { state, verdict, answer, claims: claims(findings, told), figure: own.or_else(|| figure::main(findings)) }
}

fn claims(findings: &Findings<'_>, told: TopicText) -> Vec<(&'static str, Prose)> {
    if findings.valid().next().is_none() {
        return Vec::new();
    }
    let sure = [told.sure, sure::sure(findings)].concat();
    let next = [next::again(findings), told.next, next::next(findings)].concat();
    let all = [
        ("What held", told.held),
        ("What broke first", told.broke),
        ("Why (tested by intervention)", tested(findings)),
        ("Why (observed, not confirmed)", told.why),
        ("How sure", sure),
        ("Next", next),
    ];
    all.into_iter().map(|(name, text)| (name, trimmed(text))).filter(|(_, text)| !text.is_empty()).collect()
}

/// What experiments have shown: of each point the first two sentences.
fn tested(findings: &Findings<'_>) -> Prose {
    let mut text = Prose::new();
    for found in &findings.attributions {
        let point = findings.point(found.point);
        let place = point.map_or_else(String::new, |point| at(findings, point));
        if !place.trim().is_empty() && findings.points.len() > 1 {
            text.extend(prose![format!("{}: ", capital(place.trim()))]);
        }
        let sentences = conclusion(found).into_iter().take(2);
        sentences.for_each(|sentence| text.extend(prose![format!("{sentence} ")]));
    }
    text
}

/// A text without the space behind its last sentence.
fn trimmed(mut text: Prose) -> Prose {
    use crate::blocks::Inline;
    match text.last_mut() {
        Some(Inline::Text(last)) => *last = last.trim_end(),
        Some(Inline::Datum(last)) => *last = last.trim_end().to_owned(),
        _ => {}
    }
    text.retain(|piece| !matches!(piece, Inline::Text("")));
    text
}
