//! A search: its answer, or why there is none, the load beyond it, and what would find it.

use super::topic::{Topic, TopicText};
use super::why;
use super::words::reached;
use crate::blocks::{Inline, Prose, prose};
use crate::findings::{ChosenLoad, Findings, PointFindings, SearchFindings, SentencePart, setting_title};
use proofload_analysis::quantity::{Quantity, Unit};
use proofload_model::study::Goal;

pub(super) const TOPIC: Topic = Topic { applies: |findings| !findings.searches.is_empty(), tell, figure: None };

fn tell(findings: &Findings<'_>) -> TopicText {
    let answer = findings.searches.iter().flat_map(answer).collect();
    let Some(search) = findings.searches.first() else { return TopicText::default() };
    let found = search.found().and_then(|found| at(findings, search, found.load));
    let beyond = search.found().and_then(|found| beyond(search, found.load));
    let explained = beyond.map(|chosen| &findings.points[chosen.point]).into_iter().chain(found);
    let explained: Vec<&PointFindings> = explained.filter(|point| point.verdict.is_valid()).collect();
    TopicText {
        answer,
        held: found.map_or_else(Prose::new, |point| reached(findings, point)),
        broke: broke(search, beyond),
        why: why::why(findings, &explained),
        sure: doubts(findings),
        next: Prose::new(),
    }
}

/// The answer of one search in its own words, numbers without their intervals.
fn answer(search: &SearchFindings) -> Prose {
    let inline = |told: SentencePart| match told {
        SentencePart::Words(words) => Inline::from(words),
        SentencePart::Number(quantity) => Inline::Quantity(*quantity, None, crate::blocks::Detail::Value),
    };
    let mut text = if search.label.is_empty() { Prose::new() } else { prose![search.label.clone(), ": "] };
    text.extend(search.answer().into_iter().map(inline));
    text.extend(prose![" "]);
    text
}

/// The valid point of a load.
fn at<'f>(findings: &'f Findings<'_>, search: &SearchFindings, load: f64) -> Option<&'f PointFindings> {
    let chosen = search.path.iter().filter(|chosen| chosen.load == load).map(|chosen| &findings.points[chosen.point]);
    chosen.rev().find(|point| point.verdict.is_valid())
}

/// The smallest load above the answer that was measured.
fn beyond(search: &SearchFindings, load: f64) -> Option<&ChosenLoad> {
    let above = search.path.iter().filter(|chosen| chosen.load > load && chosen.value.is_ok());
    above.min_by(|a, b| a.load.total_cmp(&b.load))
}

fn broke(search: &SearchFindings, beyond: Option<&ChosenLoad>) -> Prose {
    let Some(chosen) = beyond else {
        return prose!["Unknown: no larger load has a valid result. "];
    };
    let Ok(value) = &chosen.value else { return Prose::new() };
    let title = setting_title(&search.asked.setting);
    let lead = prose!["At ", search.load(chosen.load), " ", title];
    match &search.asked.goal {
        Goal::Percentile { statistic, at_most, .. } => {
            let ms = value.scaled(1e-6, Unit::named("ms"));
            let over = value.value() > at_most.as_nanos() as f64;
            let verb = if over { " is " } else { " is still " };
            [lead, prose![" the ", statistic.clone(), verb, Inline::ranged(&ms, "ms"), ". "]].concat()
        }
        Goal::Max { .. } => {
            let share: Option<&Quantity> = chosen.of_largest.as_ref().and_then(|share| share.as_ref().ok());
            let told = match share {
                Some(share) => {
                    let percent = share.scaled(100.0, Unit::PERCENT);
                    prose![" throughput is ", Inline::ranged(&percent, "%"), " of the largest"]
                }
                None => {
                    prose![" throughput is ", Inline::Quantity(value.clone(), None, crate::blocks::Detail::Interval)]
                }
            };
            [lead, told, prose![": more load brings no gain. "]].concat()
        }
    }
}

/// What stands against the answers.
fn doubts(findings: &Findings<'_>) -> Prose {
    let doubts = findings.searches.iter().flat_map(SearchFindings::doubts);
    doubts.flat_map(|doubt| prose![doubt, " "]).collect()
}
