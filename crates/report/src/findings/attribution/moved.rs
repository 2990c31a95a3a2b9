//! Movement of the untouched point in sentences, and blocks that are left out for one resource.

use super::point::{PointAttribution, ResourceAttribution};
use crate::numbers::{capital, short};
use proofload_analysis::attribution::Movement;

/// The only sentence on a point that moved in every attempt; `None` of others.
pub(super) fn void(found: &PointAttribution) -> Option<String> {
    let movement = found.movement.filter(|movement| movement.is_moved)?;
    Some(format!(
        "The untouched point moved by {} while it was tested: nothing is confirmed. Test it again on a quieter host: another \
         attempt makes blocks of its own.",
        moved_by(&movement)
    ))
}

/// What is said of a movement that is not told from noise, of attempts that do not count, and of blocks that do not count for one resource.
pub(super) fn notes(found: &PointAttribution) -> Vec<String> {
    let open = found.movement.filter(Movement::is_open).map(|movement| {
        format!(
            "The untouched point moved by {} while it was tested, which is not shown: as much may be chance.",
            moved_by(&movement)
        )
    });
    let moved = found.moved.iter().map(|(movement, blocks)| {
        let many = if *blocks == 1 { "block" } else { "blocks" };
        format!(
            "An attempt of {blocks} {many} does not count: the untouched point moved by {} in it.",
            moved_by(movement)
        )
    });
    found.resources.iter().filter_map(blocks_left_out).chain(open).chain(moved).collect()
}

/// Blocks that are left out for a resource which was tested in the others.
fn blocks_left_out(one: &ResourceAttribution) -> Option<String> {
    let (blocks, why) = one.left_out.as_ref().filter(|_| one.throughput.is_ok())?;
    let are = if *blocks == 1 { "block is" } else { "blocks are" };
    Some(format!("{}: {blocks} {are} left out, since {why}.", capital(&one.title)))
}

/// `−12 % [−18, −6]`.
fn moved_by(movement: &Movement) -> String {
    let percent = |share: f64| short((100.0 * share).round()).replace('-', "−");
    let (low, high) = movement.bounds;
    format!("{} % [{}, {}]", percent(movement.share), percent(low), percent(high))
}
