//! The study and its record.

use super::attempt::{Simulated, attempt};
use super::catalogue::catalogue;
use proofload_model::deployment::InstanceName;
use proofload_model::events::RunEvent;
use proofload_model::log_level::LogLevel;
use proofload_model::plan::{Run, expand};
use proofload_model::samples::Fact;
use proofload_model::settings::{Settings, Value};
use proofload_model::study::{validate, value_of};
use proofload_model::time::WallTime;
use proofload_record::{Attempt, AttemptEvent, LogLine, Record, SessionLine};
use proofload_report::findings::{SearchState, searches};
use std::collections::BTreeMap;

/// What the record looks like.
#[derive(Debug, Clone)]
pub(crate) struct Shape {
    /// The `[[factor]]` parts of the study file.
    pub(crate) factors: String,
    /// Runs of each point.
    pub(crate) repetitions: u32,
    /// Points whose runs fail a consistency condition.
    pub(crate) void: Vec<u32>,
    /// Points without any finished run.
    pub(crate) not_run: Vec<u32>,
    /// Whether there is no telemetry.
    pub(crate) blind: bool,
    /// Sentinel after every so many points.
    pub(crate) sentinel_every: Option<u32>,
    /// A title that tries to break out of every format.
    pub(crate) title: String,
    /// Seed of the study, from which all noise comes.
    pub(crate) seed: u32,
    /// How many times as fast the machine is.
    pub(crate) speed: f64,
    /// Points at which it is slower by 7 %.
    pub(crate) slow: Vec<u32>,
    /// How many times as fast it is in each repetition; 1 in those beyond.
    pub(crate) speeds: Vec<f64>,
    /// Repetitions in which throughput goes back and forth.
    pub(crate) varied: Vec<u32>,
    /// Lines after the last table: settings besides.
    pub(crate) more: String,
}

impl Shape {
    /// A study of `levels` levels of memory, each twice the one before, from 64 MiB.
    pub(crate) fn memory(levels: u32) -> Self {
        let names: Vec<String> = (0..levels).map(|level| format!("\"{}MiB\"", 64u64 << level)).collect();
        let factors = format!("[[factor]]\nsetting = \"limits.memory\"\nlevels = [{}]\n", names.join(", "));
        Self {
            factors,
            repetitions: 1,
            void: Vec::new(),
            not_run: Vec::new(),
            blind: false,
            sentinel_every: None,
            title: "OLTP throughput against database memory".to_owned(),
            seed: 1,
            speed: 1.0,
            slow: Vec::new(),
            speeds: Vec::new(),
            varied: Vec::new(),
            more: String::new(),
        }
    }
}

/// Shapes with 1, 2, 4 and 8 points, repetitions, void and missing points, no telemetry, words as levels, several factors.
pub(crate) fn shapes() -> Vec<(&'static str, Shape)> {
    let factors = |text: &str| Shape { factors: text.to_owned(), ..Shape::memory(1) };
    let engines = "[[factor]]\nsetting = \"engine.kind\"\nlevels = [\"sqlite\", \"postgresql\"]\n";
    let memory = "[[factor]]\nsetting = \"limits.memory\"\nlevels = [\"64MiB\", \"256MiB\"]\n";
    let group = "[[factor]]\nsetting = \"limits\"\nlevels = [{ memory = \"64MiB\", cores = 1 }, {}]\n";
    vec![
        ("a group of settings", factors(group)),
        ("one point", Shape::memory(1)),
        ("two points", Shape::memory(2)),
        ("four points", Shape::memory(4)),
        ("eight points", Shape::memory(8)),
        ("three repetitions", Shape { repetitions: 3, ..Shape::memory(2) }),
        ("a void point", Shape { void: vec![1], ..Shape::memory(4) }),
        ("a missing point", Shape { not_run: vec![2], ..Shape::memory(4) }),
        ("no valid point", Shape { void: vec![0, 1], ..Shape::memory(2) }),
        ("nothing run", Shape { not_run: vec![0, 1], ..Shape::memory(2) }),
        ("no telemetry", Shape { blind: true, ..Shape::memory(2) }),
        ("sentinels", Shape { sentinel_every: Some(2), ..Shape::memory(4) }),
        ("no factor", factors("")),
        ("words as levels", factors(engines)),
        ("two factors", factors(&format!("{engines}{memory}"))),
    ]
}

/// The study file.
pub(crate) fn study_text(shape: &Shape) -> String {
    let sentinel = shape.sentinel_every.map_or_else(String::new, |every| format!("sentinel_every = {every}\n"));
    let title = toml_edit::Value::from(shape.title.as_str());
    format!(
        "[study]\nname = \"memory-sweep\"\ntitle = {title}\nrepetitions = {}\nseed = {}\nreference = \"sn861-memory-sweep\"\n{sentinel}\n\
         [workload]\nkind = \"tprocc\"\nwarehouses = 4\nvirtual_users = 4\nform = \"statements\"\npacing = \"saturated\"\n\n\
         [engine]\nkind = \"sqlite\"\n\n[limits]\nmemory = \"512MiB\"\ncores = 2\n\n\
         [procedure]\nwarm_up = {{ at_least = \"10s\", at_most = \"1m\" }}\nmeasure = \"30s\"\n\n{}{}",
        shape.repetitions, shape.seed, shape.factors, shape.more
    )
}

/// A record of the whole study.
pub(crate) fn record(shape: &Shape) -> Record {
    record_by(shape, |settings, run, id| attempt(&simulated(shape, settings, run), id))
}

/// The record of a shape of which only the slow points differ from a record that is there; the others are taken from it.
pub(crate) fn slower(shape: &Shape, known: &Record) -> Record {
    record_by(shape, |settings, run, id| {
        let there = known.attempts.iter().find(|there| there.run == run && !shape.slow.contains(&run.point));
        there.map_or_else(|| attempt(&simulated(shape, settings, run), id), Attempt::clone)
    })
}

fn record_by(shape: &Shape, attempt_of: impl Fn(&Settings, Run, i64) -> Attempt) -> Record {
    let text = study_text(shape);
    let study = validate(&text, &[], &catalogue()).expect("the support's study is valid");
    let plan = expand(&study);
    let mut attempts = Vec::new();
    for run in plan.runs.iter().filter(|run| !shape.not_run.contains(&run.point)) {
        let settings = plan.settings(&study, run.point);
        attempts.push(attempt_of(&settings, *run, attempts.len() as i64 + 1));
    }
    Record {
        created: WallTime(1_790_000_000_000_000),
        documents: BTreeMap::from([
            ("study.toml".to_owned(), text),
            ("fio-precondition.json".to_owned(), "{ \"fio version\": \"fio-3.33\" }".to_owned()),
        ]),
        plan,
        sessions: vec![SessionLine {
            at: WallTime(1_790_000_000_000_000),
            program: "proofload 0.1.0".to_owned(),
            machine: "6.1.0".to_owned(),
        }],
        facts: facts(),
        events: vec![AttemptEvent::new(WallTime(1_790_000_000_500_000), RunEvent::Building("4 warehouses".to_owned()))],
        attempts,
        logs: vec![LogLine {
            attempt: None,
            at: WallTime(1_790_000_001_000_000),
            level: LogLevel::Info,
            source: "conductor".to_owned(),
            instance: InstanceName::default(),
            text: "snapshot saved".to_owned(),
        }],
        being_written: false,
        faults: Vec::new(),
        judged_again: false,
        experiments: Vec::new(),
        study,
    }
}

/// What a run of these settings is on the simulated machine; its speed depends on the users only where they are searched.
fn simulated(shape: &Shape, settings: &Settings, run: Run) -> Simulated {
    let memory = match settings.get("limits.memory") {
        Some(Value::Bytes(bytes)) => bytes.0 as f64 / f64::from(1 << 20),
        _ => 256.0,
    };
    let searched = settings.get("search.setting").is_some();
    let of_point = if shape.slow.contains(&run.point) { 0.93 } else { 1.0 };
    let of_point = of_point * shape.speeds.get(run.repetition as usize).unwrap_or(&1.0);
    let users = settings.number("workload.virtual_users").unwrap_or(4.0);
    Simulated {
        run,
        memory_mib: memory,
        memory_asked: settings.get("limits.memory").map(ToString::to_string),
        speed: shape.speed * if searched { users.min(24.0) / 24.0 } else { 1.0 } * of_point,
        broken: shape.void.contains(&run.point),
        blind: shape.blind,
        varied: shape.varied.contains(&run.repetition),
    }
}

/// A study that searches, carried out on the simulated machine as the conductor does it, to its end.
pub(crate) fn searched(shape: &Shape) -> Record {
    let mut record = record(shape);
    for _ in 0..100 {
        let (mut plan, mut events) = (record.plan.clone(), Vec::new());
        for search in &searches(&record) {
            let SearchState::Next(step) = &search.state else { continue };
            let point = search.point_of(step, &record.plan).unwrap_or_else(|| {
                let mut levels = search.levels.clone();
                levels.insert(search.asked.setting.clone(), value_of(&search.asked, step.load));
                plan.add_point(levels)
            });
            let beside = search.beside(step, &record.plan);
            let points: Vec<u32> = beside.iter().map(|(_, point)| *point).chain([point]).collect();
            plan.measure(&record.study, &points, record.plan.has_blocks());
            events.push(RunEvent::SearchStep {
                others: BTreeMap::new(),
                point: u64::from(point),
                load: step.load.to_string(),
                why: search.why(step, beside.map(|(load, _)| load)),
            });
        }
        if events.is_empty() {
            return record;
        }
        for run in &plan.runs[record.plan.runs.len()..] {
            let settings = plan.settings(&record.study, run.point);
            record.attempts.push(attempt(&simulated(shape, &settings, *run), record.attempts.len() as i64 + 1));
        }
        record.plan = plan;
        let at = record.created;
        record.events.extend(events.into_iter().map(|event| AttemptEvent::new(at, event)));
    }
    panic!("the search does not end");
}

fn facts() -> Vec<Fact> {
    [
        ("host", "cpu", "Simulated 2-core processor"),
        ("host", "cores", "2"),
        ("host", "memory", "8 GiB"),
        ("host", "kernel", "Linux 6.1.0"),
        ("host", "governor", "performance"),
        ("storage", "device_model", "simulated NVMe drive"),
        ("storage", "file_system", "ext4, noatime"),
        ("engine", "version", "3.50.4"),
        ("data", "rows", "1,996,000 in 9 tables"),
        ("data", "size", "360 MB"),
        ("client", "threads", "4"),
    ]
    .into_iter()
    .map(|(subject, name, value)| Fact::observed(subject, name, value, "simulation"))
    .collect()
}

/// A record from before windows were judged by what is shown to move.
pub(crate) fn judged_before(record: &mut Record, change: impl Fn(&mut Record)) {
    record.study.settings.0.remove("procedure.precision");
    record.study.settings.0.insert("procedure.steal_tolerance".to_owned(), Value::Number(0.1));
    change(record);
}

/// The warm-up did not end in a steady state.
pub(crate) fn unsettled(record: &mut Record) {
    let event = &mut record.attempts[0].events[2].event;
    let RunEvent::Steady { seconds } = *event else { panic!("{event:?} is no end of a warm-up") };
    *event = RunEvent::NotSteady { seconds, verdict: String::new() };
}
