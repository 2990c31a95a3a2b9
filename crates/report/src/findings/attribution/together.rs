//! Several resources that are confirmed, in a sentence by what they are: a number of things and a time that act on one another are one cause.
//! Limits that together account for more than the whole are told as close together.

use super::memory::{KEEPERS, READS, through_reads};
use super::point::{PointAttribution, ResourceAttribution};
use super::words::{NOTHING, hundredths, numbers, relief, within};
use crate::numbers::capital;
use proofload_analysis::attribution::{KnobElasticity, ResourceVerdict};
use proofload_model::intervention::{CLIENTS_CPU, CLIENTS_RTT, FLUSH_DELAY, HOLD, HOT_ROWS, POOL, ResourceClass};
use proofload_model::settings::setting;

/// What goes on while a lock or a connection is held, by the resource that it takes.
const HELD_DURING: &[(&str, &str)] = &[
    (FLUSH_DELAY, "the commit"),
    (setting::LIMITS_WRITE_IOPS, "the writes of the commit"),
    (setting::LIMITS_WRITE_BANDWIDTH, "the writes of the commit"),
    (HOLD, "the time that transactions are held"),
    (CLIENTS_RTT, "round trips of the users"),
];

/// Excess over 1 of the sum of elasticities downward from which on two limits are close together: two that are equal have a sum of 2, and
/// the second of two that are a fifth apart is hardly felt at a step of a fifth. Source: ours.
const CLOSE_TOGETHER: f64 = 0.4;

/// What rounds to nothing in a figure of two places.
const NO_FIGURE: f64 = 0.005;

/// What it means that less than nothing is unexplained, to stand behind the figure; `None` where it is not negative.
pub(super) fn below_nothing(found: &PointAttribution, rest: &KnobElasticity) -> Option<String> {
    if rest.value > -NO_FIGURE {
        return None;
    }
    if rest.bounds(0.05).1 >= 0.0 {
        return Some("not told apart from nothing".to_owned());
    }
    // Resources of no account add nothing: one that costs more than one for one is no sign of a second.
    let is_of_account = |one: &&ResourceAttribution| {
        matches!(one.decision.verdict, ResourceVerdict::Confirmed | ResourceVerdict::Contributes)
    };
    let time_like = found.resources.iter().filter(|one| one.plan.class.is_time_like() && one.throughput.is_ok());
    if time_like.filter(|one| found.counted_as(one).is_none()).filter(is_of_account).count() < 2 {
        return Some("less than nothing: lowering one of them costs more than one for one".to_owned());
    }
    let lead = format!(
        "less than nothing: elasticities add up to {}, since a limit that is near binds too once it is lowered",
        hundredths(1.0 - rest.value)
    );
    if rest.value > -CLOSE_TOGETHER {
        return Some(lead);
    }
    let raised = found.raise.as_ref().and_then(|raise| raise.throughput.as_ref().ok());
    let told = if raised.is_some_and(|raised| raised.bounds(0.05).0 > NOTHING) {
        "that may be two limits close together, but what raising one alone gave says otherwise"
    } else {
        "that may be two limits close together, of which raising one alone gives little"
    };
    Some(format!("{lead}; {told}"))
}

/// What is said of several limits that are confirmed.
pub(super) fn several_bind(found: &PointAttribution, several: &[&ResourceAttribution]) -> Vec<String> {
    let raise = found.raise.as_ref().filter(|raise| several.iter().any(|one| one.plan.name == raise.resource));
    // A raise that tells something comes before the joint visits; why there was none comes last.
    let raised = raise.filter(|raise| raise.throughput.is_ok()).map(|raise| &raise.resource);
    let joint = found.joint.as_ref().map(|joint| &joint.left);
    let left = raised.or(joint).or(raise.map(|raise| &raise.resource)).map(|name| relief(found, name));
    let acts = |one: &&ResourceAttribution| {
        through_reads(found, one).map(|through| format!("{} acts {through}.", capital(&one.title)))
    };
    std::iter::once(cause(found, several)).chain(several.iter().filter_map(acts)).chain(left).collect()
}

fn cause(found: &PointAttribution, several: &[&ResourceAttribution]) -> String {
    let near = several.iter().map(|one| within(found, one)).find(|words| !words.is_empty()).unwrap_or_default();
    let (things, times): (Vec<_>, Vec<_>) =
        several.iter().copied().partition(|one| one.plan.class == ResourceClass::Structure);
    let are_all =
        |of: &[&ResourceAttribution], known: &[&str]| of.iter().all(|one| known.contains(&one.plan.name.as_str()));
    let is_generator = times.iter().any(|one| one.plan.name == CLIENTS_CPU);
    if things.is_empty() || times.is_empty() || is_generator {
        return format!("Confirmed by intervention: {} bind together{near}.", listed(several, " and "));
    }
    if are_all(&things, KEEPERS) && are_all(&times, READS) {
        return format!(
            "Throughput is bound by {}{near}, confirmed by intervention; {} acts through it: what it holds is not read.",
            listed(&times, " and "),
            listed(&things, " and ")
        );
    }
    let cause = if are_all(&things, &[HOT_ROWS]) {
        "a lock on few rows, held"
    } else if are_all(&things, &[POOL]) {
        "a connection pool that is too small, whose connections are busy"
    } else {
        return format!("Confirmed by intervention: {} bind together{near}.", listed(several, " and "));
    };
    format!(
        "Throughput is bound by {cause} during {}, confirmed by intervention{near}: {}.",
        during(&times),
        listed(several, ", ")
    )
}

fn during(times: &[&ResourceAttribution]) -> String {
    let mut words: Vec<&str> = Vec::new();
    for one in times {
        let known = HELD_DURING.iter().find(|(name, _)| *name == one.plan.name);
        let word = known.map_or(one.title.as_str(), |(_, word)| word);
        if !words.contains(&word) {
            words.push(word);
        }
    }
    words.join(" and ")
}

fn listed(several: &[&ResourceAttribution], between: &str) -> String {
    let each: Vec<String> = several.iter().map(|one| format!("{} ({})", one.title, numbers(one))).collect();
    each.join(between)
}
