//! Resources of which less gives more throughput: what nobody asks for, and what a reader can use at once.

use super::point::{PointAttribution, ResourceAttribution};
use super::words::is_a_time;
use crate::numbers::{capital, percent_end, short};
use proofload_model::intervention::{ResourceClass, USERS};

/// A sentence for each resource of which a change in the direction that should cost throughput raised it, as far as its interval shows.
pub(super) fn gains(found: &PointAttribution) -> Vec<String> {
    found.resources.iter().filter_map(|one| gain(found, one)).collect()
}

/// Tells whether less of a resource is shown to give more throughput.
pub(super) fn gives_more(one: &ResourceAttribution) -> bool {
    one.throughput.as_ref().is_ok_and(|elasticity| elasticity.bounds(0.05).1 < 0.0)
}

/// `Fewer users give 79 % more throughput [52, 110]: 1 in place of 2.` `None` where that is not shown.
fn gain(found: &PointAttribution, one: &ResourceAttribution) -> Option<String> {
    let elasticity = one.throughput.as_ref().ok().filter(|_| one.plan.class != ResourceClass::Bound)?;
    let (low, high) = elasticity.bounds(0.05);
    // What could not be lowered was raised: less of it was not tried.
    let step = one.true_step.filter(|step| *step < 0.0 && gives_more(one))?;
    let percent = |elasticity: f64| (100.0 * ((elasticity * (1.0 + step).ln()).exp() - 1.0)).round();
    let ends = [high, low].map(|end| percent_end(percent(end)));
    let more = format!("{} % more throughput [{}]", short(percent(elasticity.value)), ends.join(", "));
    if one.plan.name == USERS {
        let counts = one.levels.map_or_else(String::new, |(from, to)| {
            format!(": {} in place of {}", short(to.round()), short(from.round()))
        });
        let homes = if found.has_homes {
            " Each user has a warehouse of its own, so that fewer users use less data as well: which of both it is, is not told."
        } else {
            ""
        };
        return Some(format!("Fewer users give {more}{counts}.{homes}"));
    }
    let (change, word) = if is_a_time(&one.plan.name) { (1.0 / (1.0 + step) - 1.0, "longer") } else { (-step, "less") };
    Some(format!("{}: {} % {word} gives {more}.", capital(&one.title), short((100.0 * change).round())))
}
