//! Attribution by intervention: what a record with experiments is made to say, in every format, and what it is not.

use crate::support::{Shape, record};
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};
use proofload_model::events::RunEvent;
use proofload_model::intervention::{
    CLIENTS_CPU, Change, ConfirmAsked, Experiment, FLUSH_DELAY, HOLD, HOT_ROWS, InterventionVisit, POOL, PointLoad,
    ResourceClass, ResourcePlan, ResourceReading, THREAD_CPU, USERS, changed, raised, resources,
};
use proofload_model::samples::{ClientSelf, HistogramDelta, IntervalSample, LatencyClock, OperationCounts};
use proofload_model::settings::Value;
use proofload_model::time::WallTime;
use proofload_record::{Attempt, AttemptEvent, Record, State};
use proofload_report::export::{Selection, TABLES, write_csv};
use proofload_report::findings::attribution::{NextBlock, attributions, conclusion, expected_blocks, next_block};
use proofload_report::findings::evaluate;
use proofload_report::{Format, render};
use serde_json::Value as Json;
use std::collections::BTreeMap;

pub(crate) const CPU: &str = "limits.cpu";
pub(crate) const READS: &str = "limits.read_iops";
const CHECKPOINTS: &str = "engine.checkpoints";
const CACHE: &str = "engine.cache";
pub(crate) const MEMORY: &str = "limits.memory";
const STEP: f64 = 0.2;
const USED: f64 = 0.995;

/// A system: how throughput and response times follow each resource when it is lowered to this share.
pub(crate) struct System {
    pub(crate) throughput: fn(&Change, f64) -> f64,
    pub(crate) response: fn(&Change, f64) -> f64,
    /// Throughput of a block, by its number.
    pub(crate) drift: fn(u32) -> f64,
    /// Blocks in which the host gives half of the CPU time that the limit allows.
    pub(crate) starved: fn(u32) -> bool,
    /// Factor of what is used of CPU time, by the number of the block.
    pub(crate) ahead: fn(u32) -> f64,
    /// What is in force of a resource, where it is not what was asked.
    pub(crate) in_force: fn(&str, &Change) -> Option<f64>,
    /// Share that is used of what is in force of a resource, by its name and how large that is against the untouched.
    pub(crate) used: fn(&str, f64) -> f64,
}

/// Bound by CPU time: users queue for it.
pub(crate) const CPU_BOUND: System = System {
    throughput: |change, low| both_ways(change, CPU, low),
    response: |change, low| match change {
        change if is_lowered(change, CPU) => 1.0 / low,
        Change::One(name) if name == USERS => low,
        _ => 1.0,
    },
    drift: |_| 1.0,
    starved: |_| false,
    ahead: |_| 1.0,
    in_force: |_, _| None,
    used: |name, of| if name == CPU { 1.0 } else { 0.1 / of },
};

/// The same with all of each limit in use.
pub(crate) const FULL: System = System { used: |_, _| 1.0, ..CPU_BOUND };

pub(crate) fn is_lowered(change: &Change, name: &str) -> bool {
    change.lowers(name, proofload_model::intervention::ResourceClass::Capacity)
}

/// Throughput that follows one limit both ways.
pub(crate) fn both_ways(change: &Change, name: &str, low: f64) -> f64 {
    if change.raises(name) {
        2.0 - low
    } else if is_lowered(change, name) {
        low
    } else {
        1.0
    }
}

/// A study of one point with two limits.
pub(crate) fn studied() -> Record {
    let factors = "[[factor]]\nsetting = \"limits.cpu\"\nlevels = [0.5]\n\
                   [[factor]]\nsetting = \"limits.read_iops\"\nlevels = [1000]\n";
    record(&Shape { factors: factors.to_owned(), ..Shape::memory(1) })
}

pub(crate) fn experiment_of(record: &Record, blocks: u32) -> Experiment {
    let settings = record.plan.settings(&record.study, 0);
    let (mut resources, mut not_tried) = resources(&settings, PointLoad { users: 10, is_embedded: true });
    // The systems of these tests have no other limits.
    for left in resources.extract_if(.., |plan| ![CPU, READS, USERS].contains(&plan.name.as_str())) {
        not_tried.insert(left.name, "this system has none".to_owned());
    }
    assert_eq!(resources.iter().map(|plan| plan.name.as_str()).collect::<Vec<_>>(), [CPU, READS, USERS]);
    Experiment { asked: ConfirmAsked { step: STEP, blocks, visit_s: 6 }, seed: 41, resources, not_tried }
}

/// A small generator of noise, about normal with deviation 1 (`SplitMix64`).
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> f64 {
        let mut uniform = || {
            self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mut state = self.0;
            state = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            state = (state ^ (state >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            ((state ^ (state >> 31)) >> 11) as f64 / (1u64 << 53) as f64
        };
        (0..12).map(|_| uniform()).sum::<f64>() - 6.0
    }
}

fn event(event: RunEvent) -> AttemptEvent {
    AttemptEvent::new(WallTime(0), event)
}

/// Carries out an experiment as the conductor does: the next block is the report's choice. `visits`: at most so many, then it is killed.
pub(crate) fn carry_out(record: &mut Record, experiment: &Experiment, system: &System, mut visits: usize) {
    let template = record.attempts[0].clone();
    let id = 100 + record.experiments.len() as i64;
    let begun = event(RunEvent::ExperimentBegun(experiment.clone()));
    record.experiments.push(Attempt {
        id,
        state: State::Open,
        events: vec![begun],
        intervals: vec![],
        series: vec![],
        ..template
    });
    let mut noise = Noise(experiment.seed + record.experiments.len() as u64);
    loop {
        match next_block(record, 0, experiment) {
            NextBlock::Enough { blocks, why } => {
                let last = record.experiments.last_mut().expect("it has begun");
                last.events.push(event(RunEvent::ExperimentEnded { blocks, why }));
                return;
            }
            NextBlock::Visit { number, order } => {
                let last = record.experiments.last_mut().expect("it has begun");
                last.events.push(event(RunEvent::BlockBegun { number, order: order.clone() }));
                for change in order {
                    if visits == 0 {
                        return;
                    }
                    visits -= 1;
                    visit(last, experiment, (number, &change), system, &mut noise);
                }
            }
        }
    }
}

fn visit(
    attempt: &mut Attempt,
    experiment: &Experiment,
    (block, change): (u32, &Change),
    system: &System,
    noise: &mut Noise,
) {
    let from = attempt.intervals.last().map_or(2, |second| second.index + 3);
    let starved = (system.starved)(block);
    let step = experiment.asked.step;
    let follows = if starved { 0.5 } else { (system.throughput)(change, 1.0 - step) };
    let level = 400.0 * follows * (system.drift)(block) * (0.01 * noise.next()).exp();
    let response = 20e6 * (system.response)(change, 1.0 - step) * (0.02 * noise.next()).exp();
    let to = from + 6;
    attempt.intervals.extend((from..to).map(|index| second(index, level.round() as u64, response)));
    let reading = |plan: &ResourcePlan| {
        let whole = if plan.name == USERS {
            10.0
        } else if plan.name == CPU {
            0.5
        } else if [CHECKPOINTS, HOT_ROWS].contains(&plan.name.as_str()) {
            1.0
        } else {
            1000.0
        };
        let more = if change.raises(&plan.name) { raised(whole, step) } else { whole };
        let asked = if change.lowers(&plan.name, plan.class) { changed(&plan.name, whole, step) } else { more };
        let in_force = (system.in_force)(&plan.name, change).unwrap_or(asked);
        let used = USED * in_force * (system.used)(&plan.name, in_force / whole);
        let used = match plan.name.as_str() {
            USERS | CHECKPOINTS | HOT_ROWS => None,
            CPU if starved => Some(0.25),
            CPU => Some(used * (system.ahead)(block)),
            _ => Some(used),
        };
        // The database of these tests has no cache that can be changed.
        ResourceReading { name: plan.name.clone(), in_force: Some(in_force).filter(|_| plan.name != CACHE), used }
    };
    let readings = experiment.resources.iter().map(reading).collect();
    let visit = InterventionVisit { block, change: change.clone(), from, to, switched_ms: 2.0, readings };
    attempt.events.push(event(RunEvent::Visited(visit)));
}

fn second(index: u64, done: u64, response_ns: f64) -> IntervalSample {
    let mut histogram = Histogram::<u64>::new_with_bounds(1_000, 60_000_000_000, 3).expect("the bounds are valid");
    histogram.record_n(response_ns as u64 / 4, done - done / 50).expect("it is within the bounds");
    histogram.record_n(response_ns as u64, done / 50).expect("it is within the bounds");
    let mut payload = Vec::new();
    V2DeflateSerializer::new().serialize(&histogram, &mut payload).expect("memory takes it");
    IntervalSample {
        index,
        counts: vec![OperationCounts { kind: "new_order".to_owned(), due: done, done, ..OperationCounts::default() }],
        histograms: vec![HistogramDelta {
            kind: "new_order".to_owned(),
            clock: LatencyClock::Response,
            count: done,
            sum_ns: done * 1_000_000,
            max_ns: response_ns as u64,
            payload,
        }],
        errors: Vec::new(),
        client: ClientSelf::default(),
        engine: Vec::new(),
    }
}

pub(crate) fn tested(system: &System) -> Record {
    let mut record = studied();
    let experiment = experiment_of(&record, 12);
    carry_out(&mut record, &experiment, system, usize::MAX);
    record
}

pub(crate) fn words(record: &Record) -> Vec<(String, &'static str)> {
    let found = attributions(record);
    found[0].resources.iter().map(|one| (one.plan.name.clone(), one.decision.verdict.word())).collect()
}

pub(crate) fn text_of(record: &Record) -> String {
    conclusion(&attributions(record)[0]).join("\n")
}

#[test]
fn a_limit_that_binds_is_confirmed_and_others_are_cleared() {
    let record = tested(&CPU_BOUND);
    let expected = [(CPU, "confirmed"), (READS, "refuted"), (USERS, "refuted")];
    assert_eq!(words(&record), expected.map(|(name, word)| (name.to_owned(), word)));
    let found = &attributions(&record)[0];
    // Six or a few more until it is sure, and three with a raise.
    assert!((9..=12).contains(&found.blocks), "{}", found.blocks);
    let cpu = found.resources[0].throughput.as_ref().unwrap();
    assert!((cpu.value - 1.0).abs() < 0.1, "{cpu:?}");
    let (quota, users) = (found.resources[0].response.as_ref(), found.resources[2].response.as_ref());
    assert!(quota.is_err_and(|why| why.contains("wait out a quota")), "{quota:?}");
    assert!((users.unwrap().value - 1.0).abs() < 0.2, "{users:?}");
    // The limits read back are 0.4 of 0.5.
    assert!((found.resources[0].true_step.unwrap() + 0.2).abs() < 1e-9);
    assert!(found.unexplained.unwrap().value.abs() < 0.15, "{:?}", found.unexplained);
    let text = text_of(&record);
    for part in [
        "Throughput is bound by CPU time of the database within 20 %, confirmed by intervention: 20 % less costs 20 % of throughput",
        "20 % more CPU time of the database would give ",
        "Users queue: fewer of them cost no throughput",
        "Not lowered: bandwidth of the users, CPU time of the load generator, round trip of the users, cores of the database",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn results_stay_and_every_format_tells_the_experiment() {
    let plain = studied();
    let record = tested(&CPU_BOUND);
    let throughput = |record: &Record| evaluate(record).points[0].throughput.clone().map(|one| one.value);
    assert_eq!(throughput(&plain), throughput(&record));
    let told = |record: &Record, format| render(record, format).unwrap();
    let json: Json = serde_json::from_str(&told(&record, Format::Json)).unwrap();
    let one = &json["attribution"][0];
    assert_eq!(one["resources"][0]["verdict"], "confirmed");
    assert_eq!((one["design"].as_str(), one["seed"].as_u64()), (Some("sequential"), Some(41)));
    assert!((one["resources"][0]["reached"].as_f64().unwrap() - USED).abs() < 1e-6);
    let sum = one["unexplained"][0].as_f64().unwrap();
    assert!(sum.abs() < 0.2, "{one}");
    assert!(one["not_tried"]["limits.memory"].is_string() && one["joint"]["left"] == CPU);
    for format in [Format::Html, Format::Markdown, Format::Text] {
        let told = told(&record, format);
        assert!(told.contains("Why (tested by intervention)") && told.contains("confirmed by intervention"), "{told}");
    }
    for format in [Format::Json, Format::Html, Format::Markdown, Format::Text] {
        let told = told(&plain, format);
        assert!(!told.contains("tested by intervention") && !told.contains("\"attribution\""), "{format:?}");
    }
}

#[test]
fn a_killed_experiment_goes_on_and_its_half_block_does_not_count() {
    let mut record = studied();
    let experiment = experiment_of(&record, 12);
    // A block has five visits: two blocks, and two visits of the third.
    carry_out(&mut record, &experiment, &CPU_BOUND, 12);
    let broken = &attributions(&record)[0];
    assert_eq!((broken.blocks, broken.ended.clone()), (2, None));
    assert!(broken.resources.iter().all(|one| one.visits == 2));
    let html = render(&record, Format::Html).unwrap();
    assert!(html.contains("The experiment was broken off"));
    carry_out(&mut record, &experiment, &CPU_BOUND, usize::MAX);
    assert_eq!(words(&record)[0], (CPU.to_owned(), "confirmed"));
    let begun = record.experiments[1].events.iter().find_map(|event| match &event.event {
        RunEvent::BlockBegun { number, .. } => Some(*number),
        _ => None,
    });
    assert_eq!(begun, Some(3), "the number of the half block is not used again");
    // Another step is another experiment.
    let other = Experiment { asked: ConfirmAsked { step: 0.3, blocks: 12, visit_s: 6 }, ..experiment };
    assert!(matches!(next_block(&record, 0, &other), NextBlock::Visit { number: 0, ref order } if order.len() == 5));
}

/// Rows of an exported table, by the names of its columns.
pub(crate) fn exported(record: &Record, table: &str) -> Vec<BTreeMap<String, String>> {
    let table = TABLES.iter().find(|known| known.name == table).expect("it is exported");
    let mut page = Vec::new();
    write_csv(record, &Selection::default(), table, &mut page).expect("memory takes it");
    let text = String::from_utf8(page).expect("it is text");
    let cells = |line: &str| line.trim_end().split(',').map(str::to_owned).collect::<Vec<_>>();
    let mut lines = text.lines();
    let names = cells(lines.next().expect("it has a head"));
    lines.map(|line| names.iter().cloned().zip(cells(line)).collect()).collect()
}

#[test]
fn an_elasticity_is_found_again_from_the_exported_visits() {
    let record = tested(&CPU_BOUND);
    let (visits, readings) = (exported(&record, "visits"), exported(&record, "visit_readings"));
    let number = |row: &BTreeMap<String, String>, name: &str| row[name].parse::<f64>().expect("it is a number");
    let in_force = |visit: &str| {
        let row = readings.iter().find(|row| row["visit"] == visit && row["resource"] == CPU).expect("it was read");
        assert_eq!(row["kind"], "capacity");
        number(row, "in_force")
    };
    let mut found = Vec::new();
    for lowered in visits.iter().filter(|row| row["change"] == "one" && row["resource"] == CPU) {
        assert_eq!(lowered["block_complete"], "true");
        let references = visits
            .iter()
            .filter(|row| row["block"] == lowered["block"] && row["change"] == "nothing")
            .collect::<Vec<_>>();
        assert_eq!(references.len(), 2);
        let untouched = references.iter().map(|row| number(row, "per_s").ln()).sum::<f64>() / 2.0;
        let step = (in_force(&lowered["visit"]) / in_force(&references[0]["visit"])).ln();
        found.push((number(lowered, "per_s").ln() - untouched) / step);
    }
    let mean = found.iter().sum::<f64>() / found.len() as f64;
    let told = attributions(&record)[0].resources[0].throughput.as_ref().unwrap().value;
    assert!((mean - told).abs() < 0.02, "{mean} from the export, {told} in the report");
    assert!(exported(&studied(), "visits").is_empty());
}

#[test]
fn after_three_blocks_it_is_known_how_many_may_follow() {
    let mut record = studied();
    let experiment = experiment_of(&record, 12);
    assert_eq!(expected_blocks(&record, 0, &experiment), None);
    carry_out(&mut record, &experiment, &CPU_BOUND, 15);
    let expected = expected_blocks(&record, 0, &experiment).unwrap();
    // What is sure after three blocks is still visited until there are six.
    assert_eq!((expected.made, expected.likely, expected.most), (3, 6, 9), "three more with a raise");
}

#[test]
fn a_point_that_the_load_generator_binds_is_no_result_of_the_database() {
    let mut record = studied();
    let settings = record.plan.settings(&record.study, 0);
    let (resources, not_tried) = resources(&settings, PointLoad { users: 10, is_embedded: false });
    let asked = ConfirmAsked { step: STEP, blocks: 12, visit_s: 6 };
    let experiment = Experiment { asked, seed: 41, resources, not_tried };
    let bound = System { throughput: |change, low| if is_lowered(change, CLIENTS_CPU) { low } else { 1.0 }, ..FULL };
    carry_out(&mut record, &experiment, &bound, usize::MAX);
    // What is in force of cores and memory is told in other units than these systems have, and does not matter here.
    assert!(words(&record).contains(&(CLIENTS_CPU.to_owned(), "confirmed")), "{:?}", words(&record));
    assert!(text_of(&record).contains("its throughput is no result of the database"), "{}", text_of(&record));
    let screen = render(&record, Format::Text).unwrap();
    let screen = screen.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(screen.contains("; the point is no result of the database."), "{screen}");
    let agents = [("agents.load".to_owned(), Value::List(vec!["ssh".to_owned()]))];
    let elsewhere = settings.with(agents.iter().map(|(path, value)| (path, value)));
    let (resources, not_tried) =
        proofload_model::intervention::resources(&elsewhere, PointLoad { users: 10, is_embedded: false });
    assert!(resources.iter().all(|plan| plan.name != CLIENTS_CPU) && not_tried.contains_key(CLIENTS_CPU));
}

/// The record of an experiment with CPU time and these.
pub(crate) fn tested_with(more: &[(&str, ResourceClass)], system: &System) -> Record {
    let mut record = studied();
    let mut experiment = experiment_of(&record, 12);
    let more = more.iter().map(|(name, class)| ResourcePlan { name: (*name).to_owned(), class: *class });
    experiment.resources = experiment.resources.drain(..1).chain(more).collect();
    carry_out(&mut record, &experiment, system, usize::MAX);
    record
}

#[test]
fn work_that_is_off_is_a_bound_and_what_the_database_does_not_have_is_not_tested() {
    let busy = System {
        throughput: |change, low| match change {
            Change::One(name) if name == CHECKPOINTS => 1.4,
            change if is_lowered(change, CPU) => low,
            _ => 1.0,
        },
        ..CPU_BOUND
    };
    let more = [(CACHE, ResourceClass::Structure), (CHECKPOINTS, ResourceClass::Bound)];
    let record = tested_with(&more, &busy);
    let found = &attributions(&record)[0];
    let named = |name: &str, word| (name.to_owned(), word);
    assert_eq!(words(&record), [named(CPU, "confirmed"), named(CACHE, "not tested"), named(CHECKPOINTS, "confirmed")]);
    let why = found.resources[1].throughput.clone().unwrap_err();
    let expected = "the database has nothing of the kind that can be changed while it runs, or has it from its start as a change \
                    would make it";
    assert_eq!(why, expected);
    let bound = &found.resources[2];
    assert_eq!((bound.true_step, bound.plan.class.word()), (None, "bound"));
    // ln 1.4 over what 20 % of a resource that binds costs.
    let elasticity = bound.throughput.as_ref().unwrap().value;
    assert!((elasticity - 1.4_f64.ln() / -0.8_f64.ln()).abs() < 0.15, "{elasticity}");
    let said = proofload_report::findings::attribution::sentence_of(found, bound);
    assert!(
        said.contains("Work of checkpoints is confirmed: off, it leaves ")
            && said.contains("% more throughput, the most that can be had"),
        "{said}"
    );
    let text = text_of(&record);
    assert!(
        text.starts_with("Throughput is bound by CPU time of the database within 20 %, confirmed")
            && text.contains(&said),
        "{text}"
    );
    // It is no time and no rate: CPU time alone explains the whole.
    assert!(found.unexplained.is_none_or(|rest| rest.value.abs() < 0.1), "{:?}", found.unexplained);
    for format in [Format::Html, Format::Markdown, Format::Text, Format::Json] {
        render(&record, format).unwrap_or_else(|error| panic!("{error}"));
    }
    // Off or not, more of it never makes one that does nothing bind.
    let idle = tested_with(&more[1..], &CPU_BOUND);
    assert_eq!(words(&idle)[1], named(CHECKPOINTS, "refuted"));
}

#[test]
fn one_row_is_raised_to_two_and_told_so() {
    let locked = System {
        throughput: |change, _| match change {
            Change::One(name) if name == HOT_ROWS => 1.8,
            _ => 1.0,
        },
        ..CPU_BOUND
    };
    let record = tested_with(&[(HOT_ROWS, ResourceClass::Structure)], &locked);
    let found = &attributions(&record)[0];
    assert_eq!(words(&record)[1], (HOT_ROWS.to_owned(), "confirmed"));
    assert_eq!(found.resources[1].true_step.map(|step| (100.0 * step).round()), Some(100.0));
    let text = text_of(&record);
    assert!(text.contains("bound by number of rows in use") && text.contains("100 % more gives"), "{text}");
}

#[test]
fn a_time_is_longer_where_it_is_lowered_and_a_shorter_one_would_help() {
    let waiting = System {
        throughput: |change, low| if change.lowers(FLUSH_DELAY, ResourceClass::Speed) { low } else { 1.0 },
        response: |_, _| 1.0,
        ..CPU_BOUND
    };
    let record = tested_with(&[(FLUSH_DELAY, ResourceClass::Speed)], &waiting);
    assert_eq!(words(&record)[1], (FLUSH_DELAY.to_owned(), "confirmed"));
    let text = text_of(&record);
    for part in [
        "bound by commit latency within 20 %, confirmed by intervention: 25 % longer costs",
        "A shorter one would help",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn what_was_not_in_force_is_not_tested_and_never_refuted() {
    let ignored = System { in_force: |name, _| (name == READS).then_some(1000.0), ..CPU_BOUND };
    let record = tested(&ignored);
    let found = &attributions(&record)[0];
    assert_eq!(words(&record)[1], (READS.to_owned(), "not tested"));
    assert!(
        found.resources[1].throughput.as_ref().unwrap_err().contains("1000 was in force in a visit that asked for 800")
    );
    assert_eq!(found.resources[1].visits, 2, "it is tried once more, then not again");
    assert_eq!((found.joint.clone(), found.unexplained), (None, None), "what is not known of one is not known of all");
    let text = text_of(&record);
    let why = "because read IOPS (1000 was in force in a visit that asked for 800) was not lowered as asked";
    assert!(text.contains(&format!("What is unexplained cannot be told, {why}")), "{text}");
    assert_eq!(words(&record)[0], (CPU.to_owned(), "confirmed"));
}

#[test]
fn what_runs_ahead_in_one_visit_counts_over_all_and_what_always_exceeds_was_not_in_force() {
    // Requests count when they are made: one block has more than the limit allows, the next as much less.
    let queued = System { ahead: |block| if block % 2 == 0 { 1.3 } else { 0.7 }, ..CPU_BOUND };
    assert_eq!(words(&tested(&queued))[0], (CPU.to_owned(), "confirmed"));
    let ignored = System { ahead: |_| 1.3, ..CPU_BOUND };
    let record = tested(&ignored);
    assert_eq!(words(&record)[0], (CPU.to_owned(), "not tested"));
    let why = attributions(&record)[0].resources[0].throughput.clone().unwrap_err();
    assert!(why.contains("per second was used under a limit of"), "{why}");
}

#[test]
fn where_nothing_binds_nothing_is_confirmed() {
    let idle = System {
        throughput: |change, low| if *change == Change::One(USERS.to_owned()) { low } else { 1.0 },
        response: |_, _| 1.0,
        ..CPU_BOUND
    };
    let record = tested(&idle);
    assert_eq!(words(&record).iter().map(|(_, word)| *word).collect::<Vec<_>>(), ["refuted", "refuted", "confirmed"]);
    let text = text_of(&record);
    assert!(text.contains("The point is not saturated"), "{text}");
    assert!(!text.contains("bound by"), "{text}");
    // The limit that was used to the brim and does not bind is named.
    assert!(text.contains("CPU time of the database was 99 % used and is refuted: 20 % less costs"), "{text}");
}

#[test]
fn blocks_in_which_the_host_gave_less_than_the_limit_do_not_count_for_it() {
    // In every third block the host gives so little that the limit does nothing.
    let starved = System {
        throughput: |change, low| if is_lowered(change, CPU) { low } else { 1.0 },
        starved: |block| block % 3 == 1,
        ..CPU_BOUND
    };
    let record = tested(&starved);
    let found = &attributions(&record)[0];
    assert_eq!(words(&record)[0], (CPU.to_owned(), "confirmed"), "{:?}", found.resources[0]);
    assert!(found.resources[0].full_blocks.is_some_and(|full| full < found.blocks));
    assert!(text_of(&record).contains("since the host gave less in the others"), "{}", text_of(&record));
}

#[test]
fn two_limits_together_are_both_named() {
    let both = System {
        throughput: |change, low| {
            if is_lowered(change, CPU) || is_lowered(change, READS) { low } else { 1.0 }
        },
        ..FULL
    };
    let text = text_of(&tested(&both));
    assert!(
        text.contains("CPU time of the database (") && text.contains("read IOPS (") && text.contains("bind together"),
        "{text}"
    );
    assert!(text.contains(" more throughput (elasticity to raising it "), "{text}");
}

#[test]
fn two_views_of_one_cause_are_told_as_one() {
    // All but CPU time binds; one row in use becomes two.
    let follows = |change: &Change, low: f64| match change {
        Change::One(name) if name == HOT_ROWS => 1.8,
        Change::One(name) if name != CPU => low,
        Change::AllBut(left) if left == CPU => low,
        _ => 1.0,
    };
    let system = System { throughput: follows, response: |_, _| 1.0, ..FULL };
    for (time, thing, part) in [
        ((READS, ResourceClass::Capacity), MEMORY, "memory of the database ("),
        (
            (FLUSH_DELAY, ResourceClass::Speed),
            HOT_ROWS,
            "Throughput is bound by a lock on few rows, held during the commit",
        ),
        ((HOLD, ResourceClass::Speed), POOL, "a connection pool that is too small, whose connections are busy during"),
    ] {
        let record = tested_with(&[time, (thing, ResourceClass::Structure)], &system);
        let first = conclusion(&attributions(&record)[0]).remove(0);
        assert!(words(&record)[1..].iter().all(|(_, word)| *word == "confirmed"), "{first}");
        assert!(first.contains(part) && !first.contains("bind together"), "{first}");
    }
}

#[test]
fn a_role_is_told_with_its_name_and_side_in_every_format() {
    let mut record = tested_with(&[(THREAD_CPU, ResourceClass::Capacity)], &CPU_BOUND);
    let more = [
        ("limits.thread", Value::Text("startup".to_owned())),
        ("limits.thread_on", Value::Text("standby".to_owned())),
        (THREAD_CPU, Value::Number(0.02)),
    ];
    record.study.settings.0.extend(more.map(|(path, value)| (path.to_owned(), value)));
    assert_eq!(attributions(&record)[0].resources[1].title, "CPU time of startup on the standby");
    for format in [Format::Html, Format::Markdown, Format::Json] {
        let told = render(&record, format).unwrap_or_else(|error| panic!("{error}"));
        assert!(told.contains("CPU time of startup on the standby"), "{told}");
    }
}

#[test]
fn a_point_that_moves_confirms_nothing() {
    let drifting = System { drift: |block| 1.0 - 0.04 * f64::from(block), ..CPU_BOUND };
    let record = tested(&drifting);
    assert!(words(&record).iter().all(|(_, word)| *word == "not tested"), "{:?}", words(&record));
    assert!(text_of(&record).contains("while it was tested: nothing is confirmed"), "{}", text_of(&record));
}
