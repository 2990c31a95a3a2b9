//! Attribution in sentences. *Confirmed* stands here and nowhere else.

use super::follows::exceeds_one_for_one;
use super::gains::{gains, gives_more};
use super::memory::{size_cost, through_reads};
use super::moved;
use super::point::{PointAttribution, ResourceAttribution};
use super::raise;
use super::sides;
use super::together::{below_nothing, several_bind};
use crate::numbers::{capital, short};
use proofload_analysis::attribution::{KnobElasticity, LimitReach, LimitUse, ResourceVerdict};
use proofload_model::intervention::{
    CLIENTS_BANDWIDTH, CLIENTS_CPU, CLIENTS_RTT, DURABILITY, FLUSH_DELAY, HOLD, HOT_ROWS, POOL, ResourceClass,
    THREAD_CPU, USERS,
};
use proofload_model::settings::{Settings, setting};
use proofload_model::study::{limits_standby_thread, thread_limit};

/// Names of resources in sentences.
const NAMES: &[(&str, &str)] = &[
    (setting::LIMITS_CPU, "CPU time of the database"),
    (setting::LIMITS_CORES, "cores of the database"),
    (THREAD_CPU, "CPU time of one role of the database"),
    (setting::LIMITS_MEMORY, "memory of the database"),
    (setting::LIMITS_READ_IOPS, "read IOPS"),
    (setting::LIMITS_WRITE_IOPS, "write IOPS"),
    (setting::LIMITS_READ_BANDWIDTH, "read bandwidth"),
    (setting::LIMITS_WRITE_BANDWIDTH, "write bandwidth"),
    (CLIENTS_CPU, "CPU time of the load generator"),
    (CLIENTS_RTT, "round trip of the users"),
    (CLIENTS_BANDWIDTH, "bandwidth of the users"),
    (FLUSH_DELAY, "commit latency"),
    (HOT_ROWS, "number of rows in use"),
    (HOLD, "time that transactions are held"),
    (POOL, "size of the connection pool"),
    ("engine.cache", "cache of the database"),
    ("engine.autovacuum", "work of autovacuum"),
    ("engine.checkpoints", "work of checkpoints"),
    ("engine.page_flushing", "flushing of pages in the background"),
    (DURABILITY, "the flush of each commit"),
    (USERS, "number of users"),
];

/// Resources that are times, counted in how many follow one another per second: one that is lowered is longer.
const TIMES: &[&str] = &[CLIENTS_RTT, HOLD, FLUSH_DELAY];

/// Use of a limit that would make a reader suspect it, as a share.
const SUSPECT: f64 = 0.85;
/// Upper bound up to which what others take is nothing.
pub(super) const NOTHING: f64 = 0.3;

/// Lower bound from which on what others take is something.
pub(super) const OF_ACCOUNT: f64 = 0.15;

/// The name of a resource in sentences.
pub(crate) fn name_of(resource: &str) -> &str {
    NAMES.iter().find(|(known, _)| *known == resource).map_or(resource, |(_, name)| name)
}

/// The name of a resource of a point in sentences; of a role of the database, which one and where it runs.
pub(super) fn title_of(resource: &str, settings: &Settings) -> String {
    let side = if limits_standby_thread(settings) { "standby" } else { "primary" };
    match thread_limit(settings).filter(|_| resource == THREAD_CPU) {
        Some(limit) => format!("CPU time of {} on the {side}", limit.role),
        None => name_of(resource).to_owned(),
    }
}

/// The conclusion of an experiment in sentences, the most important first.
pub fn conclusion(found: &PointAttribution) -> Vec<String> {
    if found.blocks < 2 {
        let first = "The experiment has fewer than two complete blocks: nothing is confirmed.".to_owned();
        return std::iter::once(first).chain(left_out(found)).chain(other_attempts(found)).collect();
    }
    if let Some(void) = moved::void(found) {
        return vec![void];
    }
    let confirmed = found.with_verdict("confirmed").filter(|one| found.counted_as(one).is_none());
    let (users, others): (Vec<_>, Vec<_>) = confirmed.partition(|one| one.plan.name == USERS);
    // What work that is off gives is no limit that binds.
    let (bounds, limits): (Vec<_>, Vec<_>) = others.into_iter().partition(|one| one.plan.class == ResourceClass::Bound);
    let mut sentences = match (limits.as_slice(), users.as_slice()) {
        ([], [users]) => vec![unsaturated(found, users)],
        ([], _) if bounds.is_empty() => vec![nothing_confirmed(found)],
        ([], _) => Vec::new(),
        ([one], _) => one_binds(found, one),
        (several, _) => several_bind(found, several),
    };
    sentences.extend(bounds.iter().map(|one| sentence_of(found, one)));
    if let ([_, ..], [users]) = (limits.as_slice(), users.as_slice()) {
        sentences.push(format!(
            "Throughput follows the number of users as well ({}): more of them share what the resource does at once, as \
             commits share a write.",
            numbers(users)
        ));
    }
    sentences.extend(raise_of_others(found));
    sentences.extend(generator(&limits));
    sentences.extend(gains(found));
    sentences.extend(queueing(found, &limits));
    sentences.extend(found.with_verdict("contributes").map(|one| sentence_of(found, one)));
    sentences.extend(found.with_verdict("refuted").filter(|one| is_suspect(one)).map(|one| sentence_of(found, one)));
    sentences.extend(found.resources.iter().filter_map(|one| partly_reached(found, one)));
    sentences.extend(left_out(found));
    sentences.extend(sides::notes(found));
    sentences.extend(moved::notes(found));
    sentences.extend(undecided(found));
    sentences.extend(unexplained(found));
    sentences.extend(other_host(found));
    sentences.extend(other_attempts(found));
    sentences.extend(looked_at(found));
    sentences
}

/// One resource in a sentence, with what was observed of it.
pub fn sentence_of(found: &PointAttribution, one: &ResourceAttribution) -> String {
    let name = capital(&one.title);
    let used = match one.reached.map(|share| 100.0 * share) {
        Some(percent) if LimitUse::is_full(percent / 100.0) => format!(" was {} % used and", short(percent.round())),
        Some(percent) if is_in_bursts(one) => {
            format!(", {} % used on average and reached in bursts,", short(percent.round()))
        }
        Some(percent) => format!(", {} % used,", short(percent.round())),
        None => String::new(),
    };
    let cost = |elasticity: &KnobElasticity| cost(found, one, elasticity);
    match (&one.decision.verdict, &one.throughput) {
        (ResourceVerdict::Confirmed, Ok(elasticity)) => format!("{name}{used} is confirmed: {}.", cost(elasticity)),
        (ResourceVerdict::Contributes, Ok(elasticity)) => match not_reached(found, one) {
            Some(why) => format!("{name} contributes: {why}; {}.", cost(elasticity)),
            None => format!("{name}{used} contributes: {}.", cost(elasticity)),
        },
        (ResourceVerdict::Refuted { .. }, Ok(elasticity)) => format!("{name}{used} is refuted: {}.", cost(elasticity)),
        (ResourceVerdict::NotToldApart { blocks }, _) => {
            let more = blocks.map_or_else(
                || "no reasonable number of blocks would tell".to_owned(),
                |blocks| format!("about {blocks} more {} would tell", if blocks == 1 { "block" } else { "blocks" }),
            );
            format!("{name}{used} is not told apart: {more}.")
        }
        (ResourceVerdict::NotTested { why }, _) => format!("{name} was not tested: {why}."),
        (_, Err(why)) => format!("{name} was not tested: {why}."),
    }
}

/// Whether throughput follows a limit that is reached in bursts; what it does not follow need not have any.
fn is_in_bursts(one: &ResourceAttribution) -> bool {
    is_followed(one) && one.limit_use.is_some_and(|used| used.reach() == LimitReach::InBursts)
}

fn is_followed(one: &ResourceAttribution) -> bool {
    matches!(one.decision.verdict, ResourceVerdict::Confirmed | ResourceVerdict::Contributes)
}

/// What was used of a limit that throughput follows although it is not reached; `None` of others.
fn not_reached(found: &PointAttribution, one: &ResourceAttribution) -> Option<String> {
    let mean = one.limit_use.filter(|used| used.reach() == LimitReach::Not)?.mean;
    let percent = (100.0 * mean).round();
    Some(if mean > 1.0 - found.experiment.asked.step {
        format!("{} % was used, so that it binds from {} % less on, not now", short(percent), short(100.0 - percent))
    } else {
        format!("{} % was used on average, so that it was reached for a part of the time at most", short(percent))
    })
}

/// Words for how much less of a limit or a time binds, as far as is known of one that was lowered: ` within 30 %`. Empty of numbers of things.
pub(super) fn within(found: &PointAttribution, one: &ResourceAttribution) -> String {
    let step = short((100.0 * found.experiment.asked.step).round());
    if one.plan.class.is_time_like() { format!(" within {step} %") } else { String::new() }
}

/// Whether a resource is a time: one that is lowered is longer.
pub(super) fn is_a_time(resource: &str) -> bool {
    TIMES.contains(&resource)
}

/// What changing a resource by the step costs: `20 % less costs 19 % (elasticity 0.96 [0.90, 1.02])`; of one that was raised, what that gives.
fn cost(found: &PointAttribution, one: &ResourceAttribution, elasticity: &KnobElasticity) -> String {
    if one.plan.class == ResourceClass::Bound {
        return off(found, elasticity);
    }
    if let Some(cost) = size_cost(one, elasticity) {
        return match through_reads(found, one).filter(|_| is_followed(one)) {
            Some(through) => format!("{cost}, {through}"),
            None => cost,
        };
    }
    let step = one.true_step.map_or(found.experiment.asked.step, |step| -step);
    let percent = 100.0 * (1.0 - (elasticity.value * (1.0 - step).ln()).exp());
    let verb = if percent.round() < 0.0 { "gives" } else { "costs" };
    let (change, word) = match step {
        raised if raised < 0.0 => (-raised, "more"),
        step if is_a_time(&one.plan.name) => (1.0 / (1.0 - step) - 1.0, "longer"),
        step => (step, "less"),
    };
    let beyond = if exceeds_one_for_one(elasticity.value) { ", more than one for one" } else { "" };
    format!(
        "{} % {word} {verb} {} % of throughput (elasticity {}{beyond})",
        short((100.0 * change).round()),
        short(percent.abs().round()),
        interval(elasticity)
    )
}

/// What switching work off gives, with the interval in units of what a resource that binds costs.
fn off(found: &PointAttribution, elasticity: &KnobElasticity) -> String {
    let step = found.experiment.asked.step;
    let percent = 100.0 * ((elasticity.value * -(1.0 - step).ln()).exp() - 1.0);
    let word = if percent.round() < 0.0 { "less" } else { "more" };
    format!(
        "off, it leaves {} % {word} throughput, the most that can be had of it ({} times what a resource that binds costs at {} %)",
        short(percent.abs().round()),
        interval(elasticity),
        short((100.0 * step).round())
    )
}

fn one_binds(found: &PointAttribution, one: &ResourceAttribution) -> Vec<String> {
    let name = &one.title;
    let cost = one.throughput.as_ref().map(|elasticity| cost(found, one, elasticity)).unwrap_or_default();
    // The first sentence stands alone on the first screen.
    let void = if one.plan.name == CLIENTS_CPU { "; the point is no result of the database" } else { "" };
    let near = within(found, one);
    let bursts = is_in_bursts(one).then(|| sentence_of_bursts(one)).flatten();
    let first = format!("Throughput is bound by {name}{near}, confirmed by intervention: {cost}{void}.");
    [first, relief(found, &one.plan.name)].into_iter().chain(bursts).collect()
}

fn sentence_of_bursts(one: &ResourceAttribution) -> Option<String> {
    let mean = one.limit_use?.mean;
    Some(format!("It is reached in bursts: {} % of it was used on average.", short((100.0 * mean).round())))
}

/// What raising a limit gave that is not confirmed any more once all blocks are made.
fn raise_of_others(found: &PointAttribution) -> Option<String> {
    let raise = found.raise.as_ref()?;
    let is_confirmed = found.with_verdict("confirmed").any(|one| one.plan.name == raise.resource);
    raise::sentence(found, raise).filter(|_| !is_confirmed)
}

/// What more of a resource would give, which is another claim than that it binds: by raising it, else by lowering all others.
pub(super) fn relief(found: &PointAttribution, resource: &str) -> String {
    let raise = found.raise.as_ref().filter(|raise| raise.resource == resource);
    if let Some(told) = raise.and_then(|raise| raise::sentence(found, raise)) {
        return told;
    }
    let by_others = joint_relief(found, resource);
    match raise.and_then(|raise| Some((raise.visits, raise.throughput.as_ref().err()?))) {
        Some((0, why)) => format!("{by_others} It was not raised: {why}."),
        Some((_, why)) => format!("{by_others} That it was raised does not count: {why}."),
        None => by_others,
    }
}

/// What lowering all other resources says of more of one.
fn joint_relief(found: &PointAttribution, resource: &str) -> String {
    let step = short((100.0 * found.experiment.asked.step).round());
    let is_time = is_a_time(resource);
    let (more, a_more) = if is_time { ("A shorter one", "a shorter one") } else { ("More of it", "more of it") };
    let Some(joint) = found.joint.as_ref().filter(|joint| joint.left == resource) else {
        return match not_lowered(found) {
            Some(why) => format!("Whether {a_more} would help cannot be told, because {why}."),
            None => format!("Whether {a_more} would help was not tested."),
        };
    };
    let (low, high) = joint.relief.bounds(0.05);
    let told = if 1.0 - low <= NOTHING {
        format!("{more} would help: no other limit that was lowered binds within {step} %")
    } else if 1.0 - high <= OF_ACCOUNT && high > NOTHING {
        format!("Whether {a_more} would help is not told apart")
    } else if high <= NOTHING {
        format!("{more} alone gives next to nothing")
    } else {
        format!("{more} gives less than one for one, since another limit is near")
    };
    format!("{told} (elasticity to raising it {}).", interval(&joint.relief))
}

fn unsaturated(found: &PointAttribution, users: &ResourceAttribution) -> String {
    format!(
        "The point is not saturated, confirmed by intervention: {}, and throughput follows the number of users ({}).",
        none_binds(found),
        numbers(users)
    )
}

fn nothing_confirmed(found: &PointAttribution) -> String {
    format!("Nothing is confirmed: {}.", none_binds(found))
}

fn none_binds(found: &PointAttribution) -> String {
    let is_limit = |one: &&ResourceAttribution| one.plan.name != USERS && one.plan.class != ResourceClass::Bound;
    let limits = found.resources.iter().filter(is_limit).filter(|one| one.throughput.is_ok()).count();
    match limits {
        0 => "no limit was lowered".to_owned(),
        1 => "the only limit that was lowered was not shown to bind".to_owned(),
        many => format!("none of the {many} limits that were lowered was shown to bind"),
    }
}

/// What a confirmed limit of the load generator says of the point.
fn generator(limits: &[&ResourceAttribution]) -> Option<String> {
    limits.iter().any(|one| one.plan.name == CLIENTS_CPU).then(|| {
        "The load generator bounds this point: its throughput is no result of the database. Give the load generator more \
         CPU time, or fewer users."
            .to_owned()
    })
}

/// Response times that follow users while throughput does not.
fn queueing(found: &PointAttribution, limits: &[&ResourceAttribution]) -> Option<String> {
    let users = found.with_verdict("refuted").find(|one| one.plan.name == USERS)?;
    let response = users.response.as_ref().ok().filter(|response| response.bounds(0.05).0 > 0.0)?;
    let lead = if gives_more(users) {
        "Users hinder one another: with fewer of them throughput rises"
    } else {
        "Users queue: fewer of them cost no throughput"
    };
    (!limits.is_empty()).then(|| {
        format!(
            "{lead}, and the 99th percentile of response times follows their number (elasticity {}).",
            interval(response)
        )
    })
}

fn is_suspect(one: &ResourceAttribution) -> bool {
    one.reached.is_some_and(|share| share >= SUSPECT)
}

fn partly_reached(found: &PointAttribution, one: &ResourceAttribution) -> Option<String> {
    let full = one.full_blocks?;
    Some(format!(
        "{} was reached in {full} of {} blocks only, since the host gave less in the others; only those count for it.",
        capital(&one.title),
        found.blocks
    ))
}

/// Complete blocks without a result.
fn left_out(found: &PointAttribution) -> Option<String> {
    let left = found.made.checked_sub(found.blocks).filter(|left| *left > 0)?;
    Some(format!(
        "{left} of {} complete blocks {} not count: in a visit the load generator was paused, seconds are missing, or \
         nothing was completed.",
        found.made,
        if left == 1 { "does" } else { "do" }
    ))
}

fn undecided(found: &PointAttribution) -> Option<String> {
    let mut names: Vec<String> = Vec::new();
    for one in found.with_verdict("not told apart") {
        let more = match &one.decision.verdict {
            ResourceVerdict::NotToldApart { blocks: Some(1) } => " (about 1 more block)".to_owned(),
            ResourceVerdict::NotToldApart { blocks: Some(blocks) } => format!(" (about {blocks} more blocks)"),
            _ => String::new(),
        };
        names.push(format!("{}{more}", one.title));
    }
    (!names.is_empty()).then(|| format!("Not told apart: {}.", names.join(", ")))
}

/// Resources with the unit of a time or a rate that were not lowered as asked: without them no sum over all can be formed. `None` without any.
fn not_lowered(found: &PointAttribution) -> Option<String> {
    let time_like = found.resources.iter().filter(|one| one.plan.class.is_time_like());
    let each: Vec<String> =
        time_like.filter_map(|one| Some(format!("{} ({})", one.title, one.throughput.as_ref().err()?))).collect();
    let verb = if each.len() == 1 { "was" } else { "were" };
    (!each.is_empty()).then(|| format!("{} {verb} not lowered as asked", each.join(" and ")))
}

fn unexplained(found: &PointAttribution) -> Option<String> {
    let Some(rest) = found.unexplained.as_ref() else {
        return not_lowered(found).map(|why| format!("What is unexplained cannot be told, because {why}."));
    };
    Some(format!(
        "Unexplained by the limits that were lowered: {}{}. Not lowered: {}.",
        interval(rest),
        below_nothing(found, rest).map_or_else(String::new, |means| format!(", {means}")),
        found.experiment.not_tried.keys().map(|name| name_of(name)).collect::<Vec<_>>().join(", ")
    ))
}

/// A note where the experiment was made on another host than the runs, or the untouched point is not what the record has.
fn other_host(found: &PointAttribution) -> Option<String> {
    if !found.of_runs.is_empty() {
        return Some(format!(
            "The experiment was made on another host than the runs ({}): what is said holds for the host of the experiment.",
            found.of_runs.join("; ")
        ));
    }
    let (now, then) = (found.reference?, found.recorded?);
    ((now / then).ln().abs() > 0.25).then(|| {
        format!(
            "The untouched point did {} operations per second in the experiment and {} in the record: what is said holds for the \
             host as it was during the experiment.",
            short(now),
            short(then)
        )
    })
}

/// A note on attempts that do not count because of their host.
fn other_attempts(found: &PointAttribution) -> Option<String> {
    (!found.of_earlier.is_empty()).then(|| {
        format!(
            "Earlier attempts at this experiment were made on another host ({}): their blocks do not count.",
            found.of_earlier.join("; ")
        )
    })
}

/// Experiments between which somebody may have looked and decided to go on.
fn looked_at(found: &PointAttribution) -> Option<String> {
    (found.attempts > 1).then(|| {
        format!(
            "The experiments with this point were made in {} attempts; that results could be looked at in between is not \
             counted in any interval.",
            found.attempts
        )
    })
}

/// The elasticity with its interval; of memory what the change of its size costs.
pub(super) fn numbers(one: &ResourceAttribution) -> String {
    let told = |elasticity: &KnobElasticity| size_cost(one, elasticity).unwrap_or_else(|| interval(elasticity));
    one.throughput.as_ref().map_or_else(Clone::clone, told)
}

/// `0.96 [0.90, 1.02]`.
pub(crate) fn interval(found: &KnobElasticity) -> String {
    let (low, high) = found.bounds(0.05);
    format!("{} [{}, {}]", hundredths(found.value), hundredths(low), hundredths(high))
}

pub(super) fn hundredths(value: f64) -> String {
    format!("{value:.2}").replace("-0.00", "0.00").replace('-', "−")
}
