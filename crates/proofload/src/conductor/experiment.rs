//! An experiment with a point: after the warm-up its resources are lowered in turn while load goes on, in randomised blocks with the untouched
//! point. Which blocks are still needed is the report's choice, from the record as it is then; here only limits are changed, and what was
//! read back is noted. Every visit is an event of the record, so that a killed experiment goes on with the block after its last complete one.

use super::clients;
use super::drill::now;
use super::preparation::PreparedRun;
use super::run_context::RunContext;
use crate::live::Phase;
use proofload_model::deployment::InstancePlan;
use proofload_model::error::Error;
use proofload_model::events::RunEvent;
use proofload_model::intervention::{
    CLIENTS_CPU, Change, ConfirmAsked, Experiment, InterventionVisit, LIVE_LOAD, LimitMeter, ResourcePlan,
    ResourceReading, SETTLES, THREAD_CPU, USERS, changed, engine_asked, lowered_users, resources,
};
use proofload_model::plan::mix;
use proofload_model::study::limits_standby_thread;
use proofload_model::units::duration_words;
use proofload_model::wire::{host, load};
use proofload_record::Record;
use proofload_report::findings::attribution::{NextBlock, expected_blocks, next_block};
use std::collections::BTreeMap;
use std::time::Duration;

/// Blocks after which it is told when the experiment ends: from the next one on only what is in question is visited.
const TOLD_FROM: u32 = 3;
/// Stream of the run's seed, so that no other draw has the same numbers.
const STREAM: u64 = 0x0065_7870_6572;

/// What is asked of the experiment with this run's point.
pub(super) fn experiment(prepared: &PreparedRun, asked: ConfirmAsked) -> Experiment {
    let (resources, not_tried) = resources(&prepared.settings, prepared.load());
    Experiment { asked, seed: mix(prepared.run.seed, STREAM), resources, not_tried }
}

/// What goes on while an experiment is carried out.
struct ExperimentState<'p> {
    prepared: &'p PreparedRun,
    experiment: Experiment,
    /// What the visit before has changed.
    before: Change,
    /// Time that a change of each limit takes to act.
    settles: BTreeMap<String, Duration>,
}

/// Carries out blocks while load goes on, until they suffice.
pub(super) fn carry_out(context: &mut RunContext<'_>, prepared: &PreparedRun) -> Result<(), Error> {
    let experiment = experiment(prepared, prepared.experiment.unwrap_or(ConfirmAsked::USUAL));
    context.heard.view.phase(Phase::Experimenting);
    let mut meters = change_limits(context, prepared, BTreeMap::new()).unwrap_or_default();
    meters.extend(change_load(context, BTreeMap::new())?);
    let settles = meters.into_iter().map(|meter| (meter.setting, meter.settles)).collect();
    let mut state = ExperimentState { prepared, experiment, before: Change::Nothing, settles };
    let ended = loop {
        let record = context.heard.journal.read_experiments(prepared.run.point)?;
        match next_block(&record, prepared.run.point, &state.experiment) {
            NextBlock::Visit { number, order } => {
                if let Some(told) = expected_end(&record, prepared.run.point, &state.experiment, order.len()) {
                    context.heard.view.note(&told);
                }
                block(context, &mut state, (number, &order))?;
            }
            NextBlock::Enough { blocks, why } => break RunEvent::ExperimentEnded { blocks, why },
        }
    };
    context.heard.journal.event(ended)?;
    let restored = change_limits(context, prepared, BTreeMap::new());
    let restored = restored.and(clients::change(context, prepared, 1.0));
    let restored = restored.and(change_load(context, BTreeMap::new()).map(drop));
    hold_users(context, None)?;
    restored
}

/// Makes the visits of a block.
fn block(
    context: &mut RunContext<'_>,
    state: &mut ExperimentState<'_>,
    (number, order): (u32, &[Change]),
) -> Result<(), Error> {
    let ConfirmAsked { blocks, visit_s, .. } = state.experiment.asked;
    context.heard.journal.event(RunEvent::BlockBegun { number, order: order.to_vec() })?;
    let (mut last, most) = (0, u64::from(blocks));
    for (place, change) in order.iter().enumerate() {
        context.heard.view.progress("blocks", u64::from(number), most);
        let least = u64::from(visit_s);
        let length = least + mix(state.experiment.seed, (u64::from(number) << 16) | place as u64) % (least / 2 + 1);
        last = visit(context, state, (number, change, length))?;
    }
    // All seconds of the block are in the record before it is judged.
    if context.wait_for(last)? { Ok(()) } else { Err(Error::lost("the load ended during the experiment")) }
}

/// Makes a visit; the second after its last one.
fn visit(
    context: &mut RunContext<'_>,
    state: &mut ExperimentState<'_>,
    (block, change, length): (u32, &Change, u64),
) -> Result<usize, Error> {
    let begun = now(context);
    let settle = state.settle(change);
    let (prepared, experiment) = (state.prepared, &state.experiment);
    let installed = put_in_force(context, prepared, experiment, change)?;
    let switched = now(context);
    let from = (switched + settle).ceil();
    let to = from + length as f64;
    let before = until(context, prepared, from)?;
    let after = until(context, prepared, to)?;
    let reading = |plan: &ResourcePlan| match plan.name.as_str() {
        USERS => users_reading(prepared, experiment, change, installed),
        name => ResourceReading { name: name.to_owned(), ..limit_reading(name, &before, &after) },
    };
    let visit = InterventionVisit {
        block,
        change: change.clone(),
        from: from as u64,
        to: to as u64,
        switched_ms: (switched - begun) * 1e3,
        readings: experiment.resources.iter().map(reading).collect(),
    };
    context.heard.journal.event(RunEvent::Visited(visit))?;
    state.before = change.clone();
    if context.heard.state.end.is_some() {
        return Err(Error::lost("the load ended during the experiment"));
    }
    Ok(to as usize)
}

impl ExperimentState<'_> {
    /// Seconds before a visit counts: as long as the slowest limit takes to act that is lowered now or was lowered before.
    fn settle(&self, change: &Change) -> f64 {
        let moves = |plan: &&ResourcePlan| {
            let lowered = [&self.before, change].map(|change| change.lowers(&plan.name, plan.class));
            lowered[0] != lowered[1]
        };
        let of = |plan: &ResourcePlan| self.settles.get(&plan.name).map_or(0.0, Duration::as_secs_f64);
        self.experiment.resources.iter().filter(moves).map(of).fold(SETTLES.as_secs_f64(), f64::max)
    }
}

/// When the experiment ends, from what its visits have taken, once it is known which resources are in question; `None` before.
fn expected_end(record: &Record, point: u32, experiment: &Experiment, visits: usize) -> Option<String> {
    let lasted = visit_seconds(record, point)?;
    let left = expected_blocks(record, point, experiment).filter(|left| left.made >= TOLD_FROM)?;
    let time = |blocks: u32| {
        let seconds = f64::from(blocks) * visits as f64 * lasted;
        duration_words(Duration::from_secs(seconds.ceil() as u64))
    };
    Some(format!(
        "{} blocks made, {visits} visits in the next: ends in about {}, at most {}",
        left.made,
        time(left.likely),
        time(left.most)
    ))
}

/// Mean time from one visit to the next; `None` without a second.
fn visit_seconds(record: &Record, point: u32) -> Option<f64> {
    let ours = record.experiments.iter().filter(|attempt| attempt.run.point == point);
    let ends = ours.map(|attempt| {
        let visits = attempt.events.iter().filter_map(|event| match &event.event {
            RunEvent::Visited(visit) => Some(visit.to as f64),
            _ => None,
        });
        visits.collect::<Vec<f64>>()
    });
    let gaps: Vec<f64> =
        ends.flat_map(|ends| ends.windows(2).map(|pair| pair[1] - pair[0]).collect::<Vec<_>>()).collect();
    (!gaps.is_empty()).then(|| gaps.iter().sum::<f64>() / gaps.len() as f64)
}

/// Puts a change in force, and everything else as the study asks; whether users can be held. A limit that refuses is noted, and shows in
/// what is read back.
fn put_in_force(
    context: &mut RunContext<'_>,
    prepared: &PreparedRun,
    experiment: &Experiment,
    change: &Change,
) -> Result<bool, Error> {
    let step = experiment.asked.step;
    let lowered = |plan: &&ResourcePlan| change.lowers(&plan.name, plan.class);
    let is_of_load = |plan: &&ResourcePlan| LIVE_LOAD.iter().any(|(name, _)| *name == plan.name);
    let limits = experiment.resources.iter().filter(lowered).filter(|plan| plan.name != USERS && !is_of_load(plan));
    let mut shares: BTreeMap<String, f64> = limits.map(|plan| (plan.name.clone(), 1.0 - step)).collect();
    let of_clients = shares.remove(CLIENTS_CPU).unwrap_or(1.0);
    let of_load: Vec<&ResourcePlan> = experiment.resources.iter().filter(lowered).filter(is_of_load).collect();
    let changed = change_limits(context, prepared, shares).map(drop);
    let changed = changed.and(clients::change(context, prepared, of_clients));
    let changed = changed.and_then(|()| lower_load(context, &of_load, step));
    if let Err(error) = changed {
        context.expect_no_trouble()?;
        context.heard.journal.log("warning", "conductor", &error.to_string())?;
    }
    let held = experiment.resources.iter().filter(lowered).any(|plan| plan.name == USERS);
    hold_users(context, held.then(|| lowered_users(prepared.users(), step)))
}

fn change_limits(
    context: &mut RunContext<'_>,
    prepared: &PreparedRun,
    mut shares: BTreeMap<String, f64>,
) -> Result<Vec<LimitMeter>, Error> {
    let mut testbed = context.testbed(prepared);
    let primary = testbed.primary().clone();
    let of_standbys = if limits_standby_thread(&prepared.settings) { shares.remove_entry(THREAD_CPU) } else { None };
    let of_engine = engine_asked(&prepared.settings);
    let changed = testbed.ask(&primary, host::ChangeLimits { instance: primary.name.clone(), shares, of_engine });
    // Every host is asked before anybody fails, so that none stays lowered where another resists.
    let of_others = standbys_with_meters(prepared).map(|standby| {
        let (instance, shares) = (standby.name.clone(), of_standbys.iter().cloned().collect());
        testbed.ask(standby, host::ChangeLimits { instance, shares, of_engine: Vec::new() }).map(of_role)
    });
    let of_others: Vec<Result<_, Error>> = of_others.collect();
    let mut meters = changed?;
    for others in of_others {
        meters.extend(others?);
    }
    Ok(meters)
}

/// Standbys with something that experiments change: the role that is limited, where it is theirs.
fn standbys_with_meters(prepared: &PreparedRun) -> impl Iterator<Item = &InstancePlan> {
    prepared.deployment.standbys().filter(|_| limits_standby_thread(&prepared.settings))
}

/// The meter of the role of a standby, without those that are like the primary's.
fn of_role(meters: Vec<LimitMeter>) -> impl Iterator<Item = LimitMeter> {
    meters.into_iter().filter(|meter| meter.setting == THREAD_CPU)
}

/// Changes these settings of the load by a step, and puts all others back.
fn lower_load(context: &mut RunContext<'_>, plans: &[&ResourcePlan], step: f64) -> Result<(), Error> {
    let asked = context.ask_all_load(|_| load::ReadLoad {})?.into_iter().next().unwrap_or_default();
    let value = |plan: &&ResourcePlan| {
        let asked = asked.iter().find(|meter| meter.setting == plan.name)?.asked;
        Some((plan.name.clone(), changed(&plan.name, asked, step)))
    };
    change_load(context, plans.iter().filter_map(value).collect()).map(drop)
}

/// Sets settings of the load in every load agent; how they stand in the first.
fn change_load(context: &mut RunContext<'_>, values: BTreeMap<String, f64>) -> Result<Vec<LimitMeter>, Error> {
    let all = context.ask_all_load(|_| load::ChangeLoad { values: values.clone() })?;
    Ok(all.into_iter().next().unwrap_or_default())
}

fn hold_users(context: &mut RunContext<'_>, active: Option<u32>) -> Result<bool, Error> {
    Ok(context.ask_all_load(|_| load::HoldUsers { active })?.into_iter().all(|installed| installed))
}

/// Meters with the time at which they were read.
type MetersAt = (f64, Vec<LimitMeter>);

/// Lets time pass until a second of the load begins, and reads the meters.
fn until(context: &mut RunContext<'_>, prepared: &PreparedRun, second: f64) -> Result<MetersAt, Error> {
    let left = second - now(context);
    if left > 0.0 {
        context.wait(Duration::from_secs_f64(left))?;
    }
    let at = now(context);
    let mut testbed = context.testbed(prepared);
    let primary = testbed.primary().clone();
    let ask = host::ReadMeters { instance: primary.name.clone(), of_engine: engine_asked(&prepared.settings) };
    let mut meters = testbed.ask(&primary, ask)?;
    for standby in standbys_with_meters(prepared) {
        let ask = host::ReadMeters { instance: standby.name.clone(), of_engine: Vec::new() };
        meters.extend(of_role(testbed.ask(standby, ask)?));
    }
    meters.extend(clients::meters(context, prepared)?);
    meters.extend(context.ask_all_load(|_| load::ReadLoad {})?.into_iter().next().unwrap_or_default());
    Ok((at, meters))
}

/// What was in force at both ends of a visit, and used per second of the part that used most.
fn limit_reading(name: &str, before: &MetersAt, after: &MetersAt) -> ResourceReading {
    let of = |(_, meters): &MetersAt| meters.iter().find(|meter| meter.setting == name).cloned();
    let nothing = ResourceReading { name: name.to_owned(), in_force: None, used: None };
    let (Some(first), Some(last)) = (of(before), of(after)) else { return nothing };
    let seconds = after.0 - before.0;
    let parts = first.used.iter().zip(&last.used).map(|(first, last)| (last - first) / seconds);
    ResourceReading {
        in_force: last.in_force.filter(|_| first.in_force == last.in_force),
        used: parts.reduce(f64::max).filter(|_| seconds > 0.0),
        ..nothing
    }
}

fn users_reading(prepared: &PreparedRun, experiment: &Experiment, change: &Change, installed: bool) -> ResourceReading {
    let plan = experiment.resources.iter().find(|plan| plan.name == USERS);
    let lowered = plan.is_some_and(|plan| change.lowers(USERS, plan.class));
    let users = prepared.users();
    let active = if lowered { lowered_users(users, experiment.asked.step) } else { users };
    ResourceReading { name: USERS.to_owned(), in_force: installed.then(|| f64::from(active)), used: None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofload_model::intervention::ResourceClass;

    fn meter(in_force: f64, used: &[f64]) -> LimitMeter {
        LimitMeter {
            setting: "limits.read_iops".to_owned(),
            class: ResourceClass::Capacity,
            settles: Duration::from_secs(1),
            asked: 100.0,
            in_force: Some(in_force),
            used: used.to_vec(),
        }
    }

    #[test]
    fn a_visit_tells_what_held_all_the_time_and_the_part_that_used_most() {
        let read = |first: f64, last: f64| {
            limit_reading(
                "limits.read_iops",
                &(10.0, vec![meter(first, &[5.0, 0.0])]),
                &(12.0, vec![meter(last, &[15.0, 180.0])]),
            )
        };
        let whole = read(80.0, 80.0);
        assert_eq!((whole.in_force, whole.used), (Some(80.0), Some(90.0)));
        assert_eq!(read(80.0, 100.0).in_force, None, "somebody changed it in the middle");
        let other = limit_reading("limits.cpu", &(0.0, Vec::new()), &(1.0, Vec::new()));
        assert_eq!((other.in_force, other.used), (None, None));
    }
}
