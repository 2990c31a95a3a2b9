//! A synthetic record of the warehouse workload: a row store that fills a device of 200 MB/s, and a column store that fills two
//! cores, at some numbers of streams.

use super::attempt::Chance;
use super::catalogue::catalogue;
use proofload_model::deployment::InstanceName;
use proofload_model::events::RunEvent;
use proofload_model::facts::{FactValue, limit as limits};
use proofload_model::plan::{Run, expand};
use proofload_model::samples::{
    Check, CheckOutcome, ClientSelf, ErrorCount, Fact, HistogramDelta, IntervalSample, LatencyClock, OperationCounts,
    Reading, UserRound,
};
use proofload_model::settings::Settings;
use proofload_model::study::validate;
use proofload_model::time::{Offset, WallTime};
use proofload_record::{Attempt, AttemptEvent, Record, SeriesPoint, SessionLine, State};
use std::collections::BTreeMap;

const WINDOW: (u64, u64) = (16, 76);
const SECONDS: u64 = 77;
/// Bytes of the tables as text at scale factor 1.
const RAW: u64 = 1_100_000_000;

/// What is simulated.
#[derive(Debug, Clone)]
pub(crate) struct Appliance {
    /// The `[[factor]]` parts of the study.
    pub(crate) factors: String,
    /// Tables after the workload's.
    pub(crate) more: String,
    /// Runs of each point.
    pub(crate) repetitions: u32,
    /// Whether the record is without calibration.
    pub(crate) uncalibrated: bool,
    /// Share of the used cores that the database's own threads account for, where the probe of threads runs.
    pub(crate) own_share: Option<f64>,
    /// Share of the used cores, and of the device's reads, that the database's control group accounts for, where there is one.
    pub(crate) group_share: Option<f64>,
    /// CPU seconds per second that streams count of themselves.
    pub(crate) driver: Option<f64>,
    /// Limit of CPU time, CPU seconds per second.
    pub(crate) cpu_limit: Option<f64>,
    /// Queries whose answers are wrong throughout.
    pub(crate) wrong: Vec<&'static str>,
    /// Runs end by rounds: so many are warm-up, and each of a stream's takes so many seconds.
    pub(crate) rounds: Option<(u64, Vec<Vec<f64>>)>,
}

impl Appliance {
    /// PostgreSQL's rows against DuckDB's columns, everything stated.
    pub(crate) fn stores() -> Self {
        Self {
            factors: "[[factor]]\nsetting = \"engine.kind\"\nlevels = [\"postgresql\", \"duckdb\"]\n".to_owned(),
            more: "[hardware]\ncapacity = \"1TB\"\nwatts = 120\n\n".to_owned(),
            repetitions: 3,
            uncalibrated: false,
            own_share: None,
            group_share: None,
            cpu_limit: None,
            driver: None,
            wrong: Vec::new(),
            rounds: None,
        }
    }

    /// The same at 1, 2 and 4 streams.
    pub(crate) fn streams() -> Self {
        let stores = Self::stores();
        let streams = "\n[[factor]]\nsetting = \"workload.streams\"\nlevels = [1, 2, 4]\n";
        Self { factors: format!("{}{streams}", stores.factors), repetitions: 1, ..stores }
    }

    fn study_text(&self) -> String {
        format!(
            "[study]\nname = \"rows-columns\"\ntitle = \"Row store against column store\"\nseed = 1\nrepetitions = {}\n\
             reference = \"dwft-36tb\"\n\n[workload]\nkind = \"warehouse\"\nscale_factor = 1.0\nstreams = 2\n\n\
             [engine]\nkind = \"postgresql\"\n\n[limits]\nmemory = \"128MiB\"\ncores = 2\n\n\
             [procedure]\nmeasure = \"60s\"\nerror_budget = 1.0\ndrift_tolerance = 0.9\n\n{}{}",
            self.repetitions, self.more, self.factors
        )
    }
}

/// What one store does: queries, bytes and cores per second.
struct Store {
    columns: bool,
    queries_s: f64,
    device: f64,
    cpu_percent: f64,
    table_bytes: u64,
    index_bytes: u64,
}

impl Store {
    /// Two streams fill the store; one reaches six tenths of that.
    fn of(settings: &Settings) -> Self {
        let columns = settings.text("engine.kind") == Ok("duckdb");
        let filled = if settings.count("workload.streams").unwrap_or(1) < 2 { 0.6 } else { 1.0 };
        let (queries_s, device, cpu_percent) = if columns { (4.0, 40e6, 97.0) } else { (0.5, 195e6, 60.0) };
        let (table_bytes, index_bytes) = if columns { (RAW * 10 / 38, 0) } else { (1_439_000_000, 337_000_000) };
        Self {
            columns,
            queries_s: queries_s * filled,
            device: device * filled,
            cpu_percent: cpu_percent * filled,
            table_bytes,
            index_bytes,
        }
    }
}

/// A record of the study.
pub(crate) fn warehouse(shape: &Appliance) -> Record {
    let text = shape.study_text();
    let study = validate(&text, &[], &catalogue()).expect("the support's study is valid");
    let plan = expand(&study);
    let stores = |run: &Run| Store::of(&plan.settings(&study, run.point));
    let attempts = plan.runs.iter().zip(1i64..).map(|(run, id)| attempt(shape, &stores(run), *run, id)).collect();
    let at = WallTime(1_790_000_000_000_000);
    Record {
        created: at,
        documents: BTreeMap::from([("study.toml".to_owned(), text)]),
        plan,
        sessions: vec![SessionLine { at, program: "proofload 0.1.0".to_owned(), machine: "6.1.0".to_owned() }],
        facts: study_facts(shape),
        events: Vec::new(),
        attempts,
        logs: Vec::new(),
        being_written: false,
        faults: Vec::new(),
        judged_again: false,
        experiments: Vec::new(),
        study,
    }
}

fn study_facts(shape: &Appliance) -> Vec<Fact> {
    let mut facts: Vec<Fact> = [
        ("host", "cpu", "Simulated 2-core processor"),
        ("host", "cores", "2"),
        ("host", "memory", "8 GiB"),
        ("host", "governor", "powersave"),
        ("host", "smt", "on"),
        ("storage", "device_model", "simulated NVMe drive"),
    ]
    .into_iter()
    .map(|(subject, name, value)| Fact::observed(subject, name, value, "simulation"))
    .collect();
    if !shape.uncalibrated {
        facts.push(Fact::observed("calibration", "device_read_mb_s", "200", "fio, sequential reads"));
    }
    facts
}

fn attempt(shape: &Appliance, store: &Store, run: Run, id: i64) -> Attempt {
    let mut chance = Chance(run.seed);
    let mut drawn = Drawn { carry: 0.0, next: 0 };
    let intervals: Vec<IntervalSample> =
        (0..SECONDS).map(|index| second(shape, store, index, &mut drawn, &mut chance)).collect();
    let mut attempt = Attempt {
        id,
        run,
        state: State::Finished,
        started: WallTime(1_790_000_000_000_000 + id * 60_000_000),
        events: Vec::new(),
        facts: facts(shape, store),
        series: series(shape, store, &mut chance),
        marks: Vec::new(),
        checks: vec![Check {
            group: "answers".to_owned(),
            name: "golden answers".to_owned(),
            rule: "answers agree with golden ones where there are any; a wrong one is a failed query".to_owned(),
            found: "all right".to_owned(),
            outcome: CheckOutcome::Met,
            offenders: Vec::new(),
            sample: None,
            lost: None,
        }],
        agents: Default::default(),
        seal_holds: Some(true),
        intervals,
    };
    attempt.events = events(shape, &attempt);
    attempt
}

/// Which query comes next, and the fraction of one that is under way.
struct Drawn {
    carry: f64,
    next: u64,
}

/// A second: queries in turn, each as long as its class says.
fn driver(value: f64) -> Reading {
    Reading { name: "driver_cpu".to_owned(), component: String::new(), unit: "CPU s/s".to_owned(), value }
}

fn second(shape: &Appliance, store: &Store, index: u64, drawn: &mut Drawn, chance: &mut Chance) -> IntervalSample {
    let mut interval = IntervalSample {
        index,
        counts: (1..=22).map(|query| OperationCounts { kind: kind(query), ..OperationCounts::default() }).collect(),
        histograms: Vec::new(),
        errors: Vec::new(),
        client: ClientSelf {
            thread_cpu_ns: vec![1_000_000],
            resident_bytes: 20 << 20,
            send_lag_ns_p99: None,
            offered: None,
            paused_ns: 0,
        },
        engine: shape.driver.into_iter().map(driver).collect(),
    };
    drawn.carry += store.queries_s * (1.0 + 0.05 * chance.normal());
    while drawn.carry >= 1.0 {
        drawn.carry -= 1.0;
        let query = drawn.next % 22;
        drawn.next += 1;
        let kind = kind(query + 1);
        let counts = &mut interval.counts[query as usize];
        counts.due += 1;
        if shape.wrong.contains(&kind.as_str()) {
            counts.failed += 1;
            let text = format!("{kind}: row 1, column 2: 17 where 16 was wanted");
            interval.errors.push(ErrorCount { kind, code: "wrong_answer".to_owned(), text, count: 1 });
            continue;
        }
        counts.done += 1;
        let weight = match class(query + 1) {
            "simple" => 0.5,
            "average" => 0.9,
            _ => 1.2,
        };
        let seconds = 2.0 * weight / store.queries_s * (1.0 + 0.05 * chance.normal());
        interval.histograms.push(histogram(kind, (seconds * 1e9) as u64));
    }
    interval
}

fn kind(query: u64) -> String {
    format!("q{query:02}")
}

fn class(query: u64) -> &'static str {
    match query {
        1 | 6 => "simple",
        3 | 4 | 5 | 10 | 12 | 14 | 19 => "average",
        _ => "complex",
    }
}

pub(crate) fn histogram(kind: String, value_ns: u64) -> HistogramDelta {
    super::histograms::histogram(&kind, LatencyClock::Response, 3_600_000_000_000, [value_ns])
}

fn facts(shape: &Appliance, store: &Store) -> Vec<Fact> {
    let mut facts: Vec<Fact> = [
        ("data", "scale_factor", "1".to_owned()),
        ("data", "generator", "tpchgen 4.0.0".to_owned()),
        ("data", "raw_bytes", RAW.to_string()),
        ("data", "table_bytes", store.table_bytes.to_string()),
        ("data", "index_bytes", store.index_bytes.to_string()),
        ("client", "queries", "22".to_owned()),
        ("client", "parameters", "validation".to_owned()),
        ("client", "engine_in_process", store.columns.to_string()),
    ]
    .into_iter()
    .map(|(subject, name, value)| Fact::observed(subject, name, value, "simulation"))
    .collect();
    if !store.columns {
        facts.push(Fact::observed("engine", "block_size", "8192", "pg_settings"));
    }
    let query = |query: u64| {
        let text = format!("{}: what query {query} asks", class(query));
        Fact::observed("client", &format!("query.{}", kind(query)), text, "suite")
    };
    facts.extend((1..=22).map(query));
    facts.extend(shape.cpu_limit.map(|limit| {
        let text = format!("{limit} CPU s/s");
        limits::CPU.carried_out(FactValue::written(text, limit), "simulation")
    }));
    facts
}

/// Telemetry; a row store counts its pages, of which a fifth is found in its cache.
fn series(shape: &Appliance, store: &Store, chance: &mut Chance) -> Vec<SeriesPoint> {
    let mut make = |probe: &str, name: &str, component: &str, unit: &str, value: f64, most: f64| SeriesPoint {
        probe: probe.to_owned(),
        name: name.to_owned(),
        component: component.to_owned(),
        instance: InstanceName::default(),
        unit: unit.to_owned(),
        samples: (1..=SECONDS as i64)
            .map(|end| {
                let noisy = (value * (1.0 + 0.01 * chance.normal())).min(most);
                (Offset(end * 1_000_000_000), 1_000_000_000, noisy)
            })
            .collect(),
    };
    let all = f64::INFINITY;
    let mut series = vec![
        make("cores", "busy", "0", "%", store.cpu_percent, 100.0),
        make("cores", "busy", "1", "%", store.cpu_percent, 100.0),
        make("cores", "busy_mean", "", "%", store.cpu_percent, 100.0),
        make("device", "read_bytes", "nvme0n1", "B/s", store.device, all),
        make("device", "write_bytes", "nvme0n1", "B/s", 1e5, all),
        make("device", "reads", "nvme0n1", "1/s", store.device / 131_072.0, all),
        make("device", "busy", "nvme0n1", "%", store.device / 2e6, 100.0),
    ];
    if let Some(share) = shape.own_share {
        series.push(make("threads", "cpu_sum", "", "%", 2.0 * store.cpu_percent * share, all));
    }
    if let Some(share) = shape.group_share {
        series.push(make("group", "cpu", "", "CPU s/s", 0.02 * store.cpu_percent * share, all));
        series.push(make("group", "read_bytes", "nvme0n1", "B/s", store.device * share, all));
    }
    if !store.columns {
        series.push(make("engine", "block_reads", "", "1/s", store.device * 1.05 / 8192.0, all));
        series.push(make("engine", "block_hits", "", "1/s", store.device * 0.2 / 8192.0, all));
    }
    series
}

fn events(shape: &Appliance, attempt: &Attempt) -> Vec<AttemptEvent> {
    let mut totals: BTreeMap<String, OperationCounts> = BTreeMap::new();
    for counts in attempt.intervals.iter().flat_map(|interval| &interval.counts) {
        let total = totals
            .entry(counts.kind.clone())
            .or_insert_with(|| OperationCounts { kind: counts.kind.clone(), ..OperationCounts::default() });
        total.due += counts.due;
        total.done += counts.done;
        total.failed += counts.failed;
    }
    let operations: u64 = totals.values().map(|total| total.due).sum();
    let totals: Vec<OperationCounts> = totals.into_values().collect();
    let stopped = RunEvent::LoadStopped { intervals: attempt.intervals.len() as u64, totals };
    let mut named = vec![stopped];
    match &shape.rounds {
        None => {
            named.extend([RunEvent::Steady { seconds: Some(15) }, RunEvent::Window { from: WINDOW.0, to: WINDOW.1 }])
        }
        Some((warm_up, streams)) => named.extend(by_rounds(*warm_up, streams, operations)),
    }
    let event = |(index, event)| AttemptEvent::new(WallTime(attempt.started.0 + index as i64 * 5_000_000), event);
    named.into_iter().enumerate().map(event).collect()
}

/// What the conductor notes of a run by rounds: of 22 queries each, of which the first of a stream's last round fails.
fn by_rounds(warm_up: u64, streams: &[Vec<f64>], operations: u64) -> Vec<RunEvent> {
    let mut rounds = Vec::new();
    let nanos = |seconds: f64| Offset((seconds * 1e9) as i64);
    for (user, lengths) in (0..).zip(streams) {
        let mut began = 0.0;
        for (number, length) in (0..).zip(lengths) {
            let failed = u64::from(number + 1 == lengths.len() as u64);
            let ended = began + length;
            rounds.push(UserRound {
                user,
                number,
                began: nanos(began),
                ended: nanos(ended),
                well: 22 - failed,
                failed,
            });
            began = ended;
        }
    }
    let ends: Vec<f64> = streams.iter().map(|lengths| lengths.iter().sum()).collect();
    let (first, last) = (ends.iter().copied().fold(f64::INFINITY, f64::min), ends.iter().copied().fold(0.0, f64::max));
    let warmed = |lengths: &Vec<f64>| lengths.iter().take(warm_up as usize).sum::<f64>();
    let from = streams.iter().map(warmed).fold(0.0, f64::max).ceil() as u64;
    let mut events = vec![
        RunEvent::Completed { seconds: last, operations, first_user_ended: Some(first) },
        RunEvent::WholeRun { warm_up_rounds: warm_up, from: Some(from), to: first },
        RunEvent::Rounds(rounds),
    ];
    if (from as f64) < first {
        events.push(RunEvent::Window { from, to: first.ceil() as u64 });
    }
    events.extend((warm_up == 0).then_some(RunEvent::ColdStart));
    events
}
