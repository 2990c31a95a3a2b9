//! Which visits the next block makes, or why there is none.

use super::raise::{Raise, wanted};
use super::sides::stands_for;
use super::visits::PointVisits;
use proofload_analysis::attribution::{
    Decision, Experiment as Estimates, KnobElasticity, LEAST_BLOCKS, PILOT_BLOCKS, ResourceVerdict, Treatment, decide,
    kept, order, suffices,
};
use proofload_model::intervention::{Change, Experiment, RAISED_BLOCKS, ResourcePlan};
use proofload_record::Record;

/// What comes next.
#[derive(Debug, Clone, PartialEq)]
pub enum NextBlock {
    /// A block.
    Visit {
        /// Its number.
        number: u32,
        /// Its visits in their order.
        order: Vec<Change>,
    },
    /// Nothing more.
    Enough {
        /// Complete blocks.
        blocks: u32,
        /// Why, in words.
        why: String,
    },
}

/// The next block of an experiment with a point, from what its record shows so far.
pub fn next_block(record: &Record, point: u32, experiment: &Experiment) -> NextBlock {
    let shown = PointVisits::so_far(record, point).filter(|shown| shown.experiment == *experiment);
    let Some(shown) = shown else { return visits(0, experiment, &every(experiment), [None, None]) };
    let blocks = u32::try_from(shown.complete).unwrap_or(u32::MAX);
    let estimates = shown.of_throughput();
    let counted = estimates.blocks();
    let (mut left, mut found): (Vec<usize>, Vec<KnobElasticity>) = (Vec::new(), Vec::new());
    for (place, plan) in experiment.resources.iter().enumerate() {
        if shown.given_up(plan).is_some() {
            continue;
        }
        match estimates.elasticity(Treatment::Knob(place)) {
            Some(one) if !kept(&one) => {}
            Some(one) => {
                left.push(place);
                found.push(one);
            }
            None => left.push(place),
        }
    }
    if left.is_empty() && counted >= PILOT_BLOCKS {
        return NextBlock::Enough { blocks, why: "no resource needs a further block".to_owned() };
    }
    let is_sure = found.len() == left.len() && suffices(counted, &found);
    let raise = wanted(&shown, &estimates, &decisions(&shown, &estimates));
    if is_sure && raise.is_none() {
        return NextBlock::Enough { blocks, why: "every resource that was kept is sure to bind".to_owned() };
    }
    if blocks >= experiment.asked.blocks {
        return NextBlock::Enough { blocks, why: format!("all {blocks} blocks were made") };
    }
    let joint = (counted >= PILOT_BLOCKS).then(|| leader(&shown, experiment, &left)).flatten();
    // What is confirmed is raised in blocks that follow the others, or in the last ones of those that are asked for.
    let is_last = is_sure || blocks.saturating_add(RAISED_BLOCKS) >= experiment.asked.blocks;
    let raise = raise.filter(|raise| is_last || raise.has_begun).map(Raise::change);
    visits(shown.next, experiment, &left, [joint, raise])
}

/// What is said of each resource so far.
fn decisions(shown: &PointVisits, estimates: &Estimates) -> Vec<Decision> {
    let plans = &shown.experiment.resources;
    let is_moved = shown.voiding().is_some();
    let each = plans.iter().enumerate().map(|(place, plan)| match shown.fault(plan) {
        Some(why) => Err(why),
        None if is_moved => Err("the untouched point moved".to_owned()),
        None => estimates.elasticity(Treatment::Knob(place)).ok_or_else(|| "fewer than two complete blocks".to_owned()),
    });
    let decided = decide(&each.collect::<Vec<_>>()).into_iter().zip(plans);
    let given = |(decision, plan): (Decision, &ResourcePlan)| match shown.limit_use(plan) {
        Some(used) => decision.given(&used),
        None => decision,
    };
    decided.map(given).collect()
}

/// How many blocks an experiment has and will have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExpectedBlocks {
    /// Complete blocks.
    pub made: u32,
    /// Further blocks that are likely to be made.
    pub likely: u32,
    /// Further blocks at most.
    pub most: u32,
}

/// How many blocks an experiment with a point will have: as many as the resource takes that is told apart last. `None` before the first.
pub fn expected_blocks(record: &Record, point: u32, experiment: &Experiment) -> Option<ExpectedBlocks> {
    let shown = PointVisits::so_far(record, point).filter(|shown| shown.experiment == *experiment)?;
    let made = u32::try_from(shown.complete).unwrap_or(u32::MAX);
    let most = experiment.asked.blocks.saturating_sub(made);
    let estimates = shown.of_throughput();
    let each = (0..experiment.resources.len()).map(|place| {
        let found = estimates.elasticity(Treatment::Knob(place));
        found.ok_or_else(|| "fewer than two complete blocks".to_owned())
    });
    let each: Vec<_> = each.collect();
    let open = decide(&each).into_iter().filter_map(|decision| match decision.verdict {
        ResourceVerdict::NotToldApart { blocks } => Some(blocks.unwrap_or(most)),
        _ => None,
    });
    let least = u32::try_from(LEAST_BLOCKS).unwrap_or(u32::MAX).saturating_sub(made).max(1);
    let raises = wanted(&shown, &estimates, &decisions(&shown, &estimates));
    let (begun, after) = match raises {
        Some(raise) if raise.has_begun => (raise.left, 0),
        raise => (0, raise.map_or(0, |raise| raise.left)),
    };
    let likely = open.max().unwrap_or(0).max(least).max(begun).saturating_add(after).min(most);
    Some(ExpectedBlocks { made, likely, most })
}

fn every(experiment: &Experiment) -> Vec<usize> {
    (0..experiment.resources.len()).collect()
}

/// The resource that the joint visit leaves: the same as before, else that with the largest elasticity.
fn leader(shown: &PointVisits, experiment: &Experiment, left: &[usize]) -> Option<Change> {
    let time_like = experiment.resources.iter().filter(|plan| plan.class.is_time_like()).count();
    if time_like < 2 {
        return None;
    }
    let before =
        shown.results.iter().map(|result| &result.visit.change).find(|change| matches!(change, Change::AllBut(_)));
    if let Some(before) = before {
        return Some(before.clone());
    }
    let estimates = shown.of_throughput();
    let value =
        |place: &usize| estimates.elasticity(Treatment::Knob(*place)).map_or(f64::NEG_INFINITY, |one| one.value);
    let among = left.iter().filter(|place| experiment.resources[**place].class.is_time_like());
    let first = among.max_by(|one, other| value(one).total_cmp(&value(other)))?;
    // Of a quota that is full and the speed of the cores the quota is counted.
    let plans = &experiment.resources;
    let all = plans.iter().map(|plan| (plan.name.as_str(), shown.limit_use(plan)));
    let first = stands_for(&plans[*first].name, all).unwrap_or(&plans[*first].name);
    let change = Change::AllBut(first.to_owned());
    plans.iter().any(|plan| change.lowers(&plan.name, plan.class)).then_some(change)
}

fn visits(number: u32, experiment: &Experiment, left: &[usize], more: [Option<Change>; 2]) -> NextBlock {
    let mut planned = vec![Change::Nothing; 2];
    planned.extend(left.iter().map(|place| Change::One(experiment.resources[*place].name.clone())));
    planned.extend(more.into_iter().flatten());
    NextBlock::Visit { number, order: order(&planned, experiment.seed, number) }
}
