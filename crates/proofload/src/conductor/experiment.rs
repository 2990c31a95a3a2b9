//! An experiment with a point: after the warm-up its resources are lowered in turn while load goes on, in randomised blocks with the untouched
//! point, and in the last blocks a limit that is confirmed is raised. Which blocks are still needed is the report's choice, from the record
//! as it is then; here only limits are changed, and what was read back is noted. Every visit is an event of the record, so that a killed
//! experiment goes on with the block after its last complete one.

use super::clients;
use super::drill::now;
use super::preparation::PreparedRun;
use super::run_context::RunContext;
use super::switch_times::SwitchTimes;
use crate::live::Phase;
use proofload_model::deployment::InstancePlan;
use proofload_model::error::Error;
use proofload_model::events::RunEvent;
use proofload_model::intervention::{
    CLIENTS_CPU, Change, ConfirmAsked, ENGINE, Experiment, InterventionVisit, LIVE_LOAD, LimitMeter, ResourceClass,
    ResourcePlan, ResourceReading, THREAD_CPU, USERS, WORK_ENDS, changed, engine_asked, lowered_users, memory_settles,
    moves_data, raised, resources, settles_at_most,
};
use proofload_model::log_level::LogLevel;
use proofload_model::plan::mix;
use proofload_model::settings::{Settings, setting};
use proofload_model::step_count::{StepCount, StepUnit};
use proofload_model::study::limits_standby_thread;
use proofload_model::units::duration_words;
use proofload_model::wire::{host, load};
use proofload_record::Record;
use proofload_report::findings::attribution::{NextBlock, expected_blocks, next_block};
use std::collections::BTreeMap;
use std::time::Duration;

/// Blocks after which it is told when the experiment ends: from the next one on only what is in question is visited.
const TOLD_FROM: u32 = 3;
/// Time between two looks whether background work has ended.
const BETWEEN_LOOKS: Duration = Duration::from_millis(200);
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
    /// Whether settings of the database are, or may be, otherwise than the study says.
    engine_differs: bool,
}

/// Carries out blocks while load goes on, until they suffice.
pub(super) fn carry_out(context: &mut RunContext<'_>, prepared: &PreparedRun) -> Result<(), Error> {
    let experiment = experiment(prepared, prepared.experiment.unwrap_or(ConfirmAsked::USUAL));
    context.heard.view.phase(Phase::Experimenting);
    let of_engine = engine_asked(&prepared.settings);
    let found = change_limits(context, prepared, BTreeMap::new(), of_engine.clone());
    let engine_differs = found.is_err();
    let mut meters = found.unwrap_or_default();
    meters.extend(change_load(context, BTreeMap::new())?);
    let settles = meters.into_iter().map(|meter| (meter.setting, meter.settles)).collect();
    let mut state = ExperimentState { prepared, experiment, before: Change::Nothing, settles, engine_differs };
    let ended = loop {
        let record = context.heard.journal.read_experiments(prepared.run.point)?;
        match next_block(record, prepared.run.point, &state.experiment) {
            NextBlock::Visit { number, order } => {
                if let Some(told) = expected_end(record, prepared.run.point, &state.experiment, order.len()) {
                    context.heard.view.note(&told);
                }
                block(context, &mut state, (number, &order))?;
            }
            NextBlock::Enough { blocks, why } => {
                if let Some(times) = SwitchTimes::of(record, prepared.run.point) {
                    context.heard.view.note(&times.text());
                }
                break RunEvent::ExperimentEnded { blocks, why };
            }
        }
    };
    context.heard.journal.event(ended)?;
    let restored = change_limits(context, prepared, BTreeMap::new(), of_engine);
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
        context.heard.view.progress("blocks", Some(StepCount::of(u64::from(number), most, StepUnit::Blocks)));
        let least = u64::from(visit_s);
        let length = least + mix(state.experiment.seed, (u64::from(number) << 16) | place as u64) % (least / 2 + 1);
        last = visit(context, state, (number, change, length))?;
    }
    catch_up(context, state, order)?;
    // All seconds of the block are in the record before it is judged.
    if context.wait_for(last)? { Ok(()) } else { Err(Error::lost("the load ended during the experiment")) }
}

/// Has the database do what its background work left undone in a block, outside of all visits, so that no block pays for an earlier one.
fn catch_up(context: &mut RunContext<'_>, state: &mut ExperimentState<'_>, order: &[Change]) -> Result<(), Error> {
    let of_engine = work_of_block(&state.experiment.resources, order);
    if of_engine.is_empty() {
        return Ok(());
    }
    let settle = state.settle(&Change::Nothing);
    put_in_force(context, state, &Change::Nothing)?;
    state.before = Change::Nothing;
    let mut testbed = context.testbed(state.prepared);
    let primary = testbed.primary().clone();
    let ask = host::CatchUp { instance: primary.name.clone(), of_engine: of_engine.clone() };
    let undone = testbed.ask(&primary, ask)?;
    for undone in undone {
        context.heard.journal.log(LogLevel::Warning, "conductor", &undone)?;
    }
    end_of_work(context, state.prepared, &of_engine)?;
    // What was put back acts before the next block begins: its first visit waits for its own change only.
    context.wait(Duration::from_secs_f64(settle))
}

/// Background work that a block switched off.
fn work_of_block(plans: &[ResourcePlan], order: &[Change]) -> Vec<String> {
    let is_work = |plan: &&ResourcePlan| plan.class == ResourceClass::Bound;
    let was_off = |plan: &&ResourcePlan| order.iter().any(|change| change.lowers(&plan.name, plan.class));
    plans.iter().filter(is_work).filter(was_off).map(|plan| plan.name.clone()).collect()
}

/// Makes a visit; the second after its last one.
fn visit(
    context: &mut RunContext<'_>,
    state: &mut ExperimentState<'_>,
    (block, change, length): (u32, &Change, u64),
) -> Result<usize, Error> {
    let begun = now(context);
    let settle = state.settle(change);
    put_in_force(context, state, change)?;
    let (prepared, experiment) = (state.prepared, &state.experiment);
    let switched = now(context);
    let work = switched_work(&experiment.resources, &state.before, change);
    let idle = if work.is_empty() { switched } else { end_of_work(context, prepared, &work)? };
    let from = (idle + settle).ceil();
    let to = from + length as f64;
    let before = until(context, prepared, from)?;
    let after = until(context, prepared, to)?;
    let reading = |plan: &ResourcePlan| match plan.name.as_str() {
        USERS => users_reading(&after),
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
    /// Seconds before a visit counts: as long as the slowest limit takes to act that is changed now or was changed before, and as users
    /// take to end what they began.
    fn settle(&self, change: &Change) -> f64 {
        let moves = |plan: &&ResourcePlan| {
            let [before, after] =
                [&self.before, change].map(|change| (change.lowers(&plan.name, plan.class), change.raises(&plan.name)));
            before != after
        };
        let step = self.experiment.asked.step;
        let of =
            |plan: &ResourcePlan| settles_of((&plan.name, step), &self.prepared.settings, &self.settles).as_secs_f64();
        self.experiment
            .resources
            .iter()
            .filter(moves)
            .map(of)
            .fold(self.experiment.asked.settles().as_secs_f64(), f64::max)
    }
}

/// Background work that a change switches off or on again.
fn switched_work(plans: &[ResourcePlan], before: &Change, change: &Change) -> Vec<String> {
    let is_switched = |plan: &&ResourcePlan| {
        plan.class == ResourceClass::Bound
            && before.lowers(&plan.name, plan.class) != change.lowers(&plan.name, plan.class)
    };
    plans.iter().filter(is_switched).map(|plan| plan.name.clone()).collect()
}

/// Waits until none of this background work goes on, as long as that may take; the second of the load then.
fn end_of_work(context: &mut RunContext<'_>, prepared: &PreparedRun, work: &[String]) -> Result<f64, Error> {
    let latest = now(context) + WORK_ENDS.as_secs_f64();
    while !read_work(context, prepared, work.to_vec())?.is_empty() && now(context) < latest {
        context.wait(BETWEEN_LOOKS)?;
    }
    Ok(now(context))
}

fn read_work(
    context: &mut RunContext<'_>,
    prepared: &PreparedRun,
    of_engine: Vec<String>,
) -> Result<Vec<String>, Error> {
    let mut testbed = context.testbed(prepared);
    let primary = testbed.primary().clone();
    testbed.ask(&primary, host::ReadWork { instance: primary.name.clone(), of_engine })
}

/// Background work that is off by its settings.
fn work_that_is_off(meters: &[LimitMeter]) -> Vec<String> {
    let is_off = |meter: &&LimitMeter| meter.class == ResourceClass::Bound && meter.in_force == Some(0.0);
    meters.iter().filter(is_off).map(|meter| meter.setting.clone()).collect()
}

/// Tells work that goes on as on, whatever its settings say.
fn with_work(meters: &mut [LimitMeter], going_on: &[String]) {
    for meter in meters.iter_mut().filter(|meter| going_on.contains(&meter.setting)) {
        meter.in_force = Some(1.0);
    }
}

/// Time that a change of a resource takes to act, by what each limit said of itself: where other data are worked on, as long as memory or a
/// cache takes to be filled with them.
fn settles_of((resource, step): (&str, f64), settings: &Settings, told: &BTreeMap<String, Duration>) -> Duration {
    let of = |resource: &str| {
        let all = told.get(resource).copied()?;
        Some(if resource == setting::LIMITS_MEMORY { memory_settles(all, step) } else { all })
    };
    let own = of(resource).unwrap_or_default();
    if !moves_data(resource, settings) {
        return own;
    }
    let of_memory = [setting::LIMITS_MEMORY, "engine.cache"].into_iter().filter_map(of).max();
    own.max(of_memory.unwrap_or_else(|| settles_at_most(resource, settings)))
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

/// Puts a change in force, and everything else as the study asks. A limit that refuses is noted, and shows in what is read back.
fn put_in_force(context: &mut RunContext<'_>, state: &mut ExperimentState<'_>, change: &Change) -> Result<(), Error> {
    let (prepared, experiment) = (state.prepared, &state.experiment);
    let step = experiment.asked.step;
    let lowered = |plan: &&ResourcePlan| change.lowers(&plan.name, plan.class);
    let mut shares = shares_of(&experiment.resources, change, step);
    let of_clients = shares.remove(CLIENTS_CPU).unwrap_or(1.0);
    let of_load: Vec<&ResourcePlan> =
        experiment.resources.iter().filter(lowered).filter(|plan| is_of_load(plan)).collect();
    let changes_engine = changes_engine(&experiment.resources, change);
    // The database is asked only where something of it changes: each question takes a connection.
    let asks_engine = changes_engine || state.engine_differs;
    let of_engine = if asks_engine { engine_asked(&prepared.settings) } else { Vec::new() };
    let changed = change_limits(context, prepared, shares, of_engine).map(drop);
    state.engine_differs = changes_engine || changed.is_err();
    let changed = changed.and(clients::change(context, prepared, of_clients));
    let changed = changed.and_then(|()| lower_load(context, &of_load, step));
    if let Err(error) = changed {
        context.expect_no_trouble()?;
        context.heard.journal.log(LogLevel::Warning, "conductor", &error.to_string())?;
    }
    let held = experiment.resources.iter().filter(lowered).any(|plan| plan.name == USERS);
    hold_users(context, held.then(|| lowered_users(prepared.users(), step)))
}

/// Tells whether a change is one of the database itself.
fn changes_engine(plans: &[ResourcePlan], change: &Change) -> bool {
    plans.iter().any(|plan| plan.name.starts_with(ENGINE) && change.lowers(&plan.name, plan.class))
}

/// Shares of what was asked for of the limits that a change lowers, and of the one that it raises.
fn shares_of(plans: &[ResourcePlan], change: &Change, step: f64) -> BTreeMap<String, f64> {
    let limits = plans.iter().filter(|plan| plan.name != USERS && !is_of_load(plan));
    let share = |plan: &ResourcePlan| {
        let more = change.raises(&plan.name).then(|| raised(1.0, step));
        more.or_else(|| change.lowers(&plan.name, plan.class).then_some(1.0 - step))
    };
    limits.filter_map(|plan| Some((plan.name.clone(), share(plan)?))).collect()
}

fn is_of_load(plan: &ResourcePlan) -> bool {
    LIVE_LOAD.iter().any(|(name, _)| *name == plan.name)
}

fn change_limits(
    context: &mut RunContext<'_>,
    prepared: &PreparedRun,
    mut shares: BTreeMap<String, f64>,
    of_engine: Vec<String>,
) -> Result<Vec<LimitMeter>, Error> {
    let mut testbed = context.testbed(prepared);
    let primary = testbed.primary().clone();
    let of_standbys = if limits_standby_thread(&prepared.settings) { shares.remove_entry(THREAD_CPU) } else { None };
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
    // Where nothing of the load is lowered, nothing of it need be known to put it back.
    let asked = if plans.is_empty() { Vec::new() } else { of_all_agents(context.ask_all_load(|_| load::ReadLoad {})?) };
    let value = |plan: &&ResourcePlan| {
        let asked = asked.iter().find(|meter| meter.setting == plan.name)?.asked;
        Some((plan.name.clone(), changed(&plan.name, asked, step)))
    };
    change_load(context, plans.iter().filter_map(value).collect()).map(drop)
}

/// Sets settings of the load in every load agent; how they stand in all of them.
fn change_load(context: &mut RunContext<'_>, values: BTreeMap<String, f64>) -> Result<Vec<LimitMeter>, Error> {
    let all = context.ask_all_load(|_| load::ChangeLoad { values: values.clone() })?;
    Ok(of_all_agents(all))
}

/// How settings of the load stand in all of its agents: users of each are added up, and all else has a value only where it is the same in
/// each.
fn of_all_agents(answers: Vec<Vec<LimitMeter>>) -> Vec<LimitMeter> {
    let mut answers = answers.into_iter();
    let mut whole = answers.next().unwrap_or_default();
    for others in answers {
        for meter in &mut whole {
            let Some(other) = others.iter().find(|other| other.setting == meter.setting) else {
                meter.in_force = None;
                continue;
            };
            if meter.setting == USERS {
                meter.asked += other.asked;
                meter.in_force = meter.in_force.zip(other.in_force).map(|(ours, theirs)| ours + theirs);
            } else {
                meter.in_force = meter.in_force.filter(|ours| Some(*ours) == other.in_force);
                meter.settles = meter.settles.max(other.settles);
                meter.used.extend(&other.used);
            }
        }
    }
    whole
}

fn hold_users(context: &mut RunContext<'_>, active: Option<u32>) -> Result<(), Error> {
    context.ask_all_load(|_| load::HoldUsers { active }).map(drop)
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
    let off = work_that_is_off(&meters);
    if !off.is_empty() {
        let going_on = testbed.ask(&primary, host::ReadWork { instance: primary.name.clone(), of_engine: off })?;
        with_work(&mut meters, &going_on);
    }
    for standby in standbys_with_meters(prepared) {
        let ask = host::ReadMeters { instance: standby.name.clone(), of_engine: Vec::new() };
        meters.extend(of_role(testbed.ask(standby, ask)?));
    }
    meters.extend(clients::meters(context, prepared)?);
    meters.extend(of_all_agents(context.ask_all_load(|_| load::ReadLoad {})?));
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

/// Users that began an operation between the readings at both ends of a visit: what the load did, not what it was asked for.
fn users_reading((_, after): &MetersAt) -> ResourceReading {
    let active = after.iter().find(|meter| meter.setting == USERS).and_then(|meter| meter.in_force);
    ResourceReading { name: USERS.to_owned(), in_force: active, used: None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofload_model::intervention::{DURABILITY, HOT_ROWS, MEMORY_SETTLES};
    use proofload_model::settings::Value;

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
    fn users_are_those_of_all_agents_and_settings_hold_where_all_agree() {
        let of = |setting: &str, in_force: Option<f64>| LimitMeter {
            setting: setting.to_owned(),
            in_force,
            ..meter(0.0, &[1.0])
        };
        let agent = |users: Option<f64>, rows: f64| vec![of(HOT_ROWS, Some(rows)), of(USERS, users)];
        let whole = of_all_agents(vec![agent(Some(3.0), 2.0), agent(Some(4.0), 2.0)]);
        assert_eq!((whole[0].in_force, whole[0].used.len()), (Some(2.0), 2));
        assert_eq!(users_reading(&(9.0, whole)).in_force, Some(7.0), "what users did, whatever was asked");
        let apart = of_all_agents(vec![agent(Some(3.0), 2.0), agent(None, 1.0)]);
        assert_eq!((apart[0].in_force, apart[1].in_force), (None, None), "one agent has it otherwise");
        let missing = of_all_agents(vec![agent(Some(3.0), 2.0), Vec::new()]);
        assert_eq!((missing[0].in_force, users_reading(&(9.0, missing)).in_force), (None, None));
    }

    #[test]
    fn work_is_off_only_once_none_goes_on_and_is_waited_for_where_it_is_switched() {
        let bound = |name: &str| ResourcePlan { name: name.to_owned(), class: ResourceClass::Bound };
        let plans = [bound("engine.autovacuum"), bound(DURABILITY)];
        let vacuum = Change::One("engine.autovacuum".to_owned());
        assert_eq!(switched_work(&plans, &Change::Nothing, &vacuum), ["engine.autovacuum"]);
        assert_eq!(switched_work(&plans, &vacuum, &Change::One(DURABILITY.to_owned())).len(), 2, "off, and on again");
        assert_eq!(switched_work(&plans, &Change::Nothing, &Change::AllBut("limits.cpu".to_owned())), [""; 0]);
        assert_eq!(
            work_of_block(&plans, &[Change::Nothing, vacuum]),
            ["engine.autovacuum"],
            "what it left is done after it"
        );
        let of = |setting: &str, in_force| LimitMeter {
            setting: setting.to_owned(),
            class: ResourceClass::Bound,
            ..meter(in_force, &[])
        };
        let mut meters = vec![of("engine.autovacuum", 0.0), of("engine.checkpoints", 0.0), of(DURABILITY, 1.0)];
        assert_eq!(work_that_is_off(&meters), ["engine.autovacuum", "engine.checkpoints"]);
        with_work(&mut meters, &["engine.autovacuum".to_owned()]);
        let in_force: Vec<Option<f64>> = meters.iter().map(|meter| meter.in_force).collect();
        assert_eq!(in_force, [Some(1.0), Some(0.0), Some(1.0)]);
    }

    #[test]
    fn the_database_is_asked_only_where_something_of_it_changes() {
        let plan = |name: &str, class| ResourcePlan { name: name.to_owned(), class };
        let plans = [
            plan("limits.cpu", ResourceClass::Capacity),
            plan("engine.cache", ResourceClass::Structure),
            plan("engine.checkpoints", ResourceClass::Bound),
        ];
        let asks = |change: Change| changes_engine(&plans, &change);
        assert!(asks(Change::One("engine.cache".to_owned())) && asks(Change::One("engine.checkpoints".to_owned())));
        let cpu = || "limits.cpu".to_owned();
        assert!(!asks(Change::Nothing) && !asks(Change::One(cpu())));
        assert!(!asks(Change::AllBut(cpu())) && !asks(Change::Raised(cpu())), "neither is of limits of rates");
    }

    #[test]
    fn one_limit_is_raised_by_the_step_by_which_others_are_lowered() {
        let plan = |name: &str, class| ResourcePlan { name: name.to_owned(), class };
        let plans = [
            plan("limits.cpu", ResourceClass::Capacity),
            plan("limits.read_iops", ResourceClass::Capacity),
            plan(HOT_ROWS, ResourceClass::Structure),
            plan(USERS, ResourceClass::Structure),
        ];
        let shares = |change: &Change| shares_of(&plans, change, 0.25).into_iter().collect::<Vec<_>>();
        let cpu = "limits.cpu".to_owned();
        assert_eq!(shares(&Change::Raised(cpu.clone())), [(cpu.clone(), 1.25)]);
        assert_eq!(shares(&Change::One(cpu.clone())), [(cpu.clone(), 0.75)]);
        assert_eq!(shares(&Change::AllBut(cpu)), [("limits.read_iops".to_owned(), 0.75)]);
        assert!(shares(&Change::One(HOT_ROWS.to_owned())).is_empty(), "the load is asked for it");
    }

    #[test]
    fn users_that_own_data_wait_for_memory_and_others_do_not() {
        let set = |path: &str, value: i64| (path.to_owned(), Value::Integer(value));
        let limited = Settings([set("workload.warehouses", 8), set("limits.memory", 1 << 30)].into());
        // All of it takes 60 s.
        let told = BTreeMap::from([("limits.memory".to_owned(), Duration::from_secs(60))]);
        let cpu = BTreeMap::from([("limits.cpu".to_owned(), Duration::from_millis(200))]);
        assert_eq!(
            settles_of((USERS, 0.2), &limited, &told),
            Duration::from_secs(12),
            "by what the limit says of itself"
        );
        assert_eq!(settles_of((USERS, 0.2), &limited, &cpu), MEMORY_SETTLES, "else as long as it can take");
        assert_eq!(settles_of(("limits.memory", 0.4), &limited, &told), Duration::from_secs(24), "twice the step");
        assert_eq!(settles_of(("limits.cpu", 0.2), &limited, &cpu), Duration::from_millis(200));
        let none = Settings([set("limits.memory", 1 << 30)].into());
        assert_eq!(settles_of((USERS, 0.2), &none, &told), Duration::ZERO);
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
