//! A synthetic record of the key-value workload: 50 % read, 50 % update on engines by name, with what a test asks for.

use super::attempt::Chance;
use super::catalogue::catalogue;
use proofload_model::deployment::InstanceName;
use proofload_model::events::RunEvent;
use proofload_model::plan::{Run, expand};
use proofload_model::samples::{
    Check, CheckOutcome, ClientSelf, ErrorCount, Fact, HistogramDelta, IntervalSample, LatencyClock, OperationCounts,
    Reading,
};
use proofload_model::study::validate;
use proofload_model::time::{Offset, WallTime};
use proofload_record::{Attempt, AttemptEvent, Record, SeriesPoint, SessionLine, State};
use std::collections::BTreeMap;

const WINDOW: (u64, u64) = (16, 36);
const SECONDS: u64 = 37;

/// Bytes of values in a read and in an update.
const READ_BYTES: f64 = 1_000.0;
const UPDATE_BYTES: f64 = 100.0;

/// What is simulated.
#[derive(Debug, Clone)]
pub(crate) struct KeyValue {
    /// The `[[factor]]` parts of the study.
    pub(crate) factors: String,
    /// Lines below `[workload]` and tables after it.
    pub(crate) more: String,
    /// Operations per second that the first engine reaches; each further point reaches half of the one before.
    pub(crate) capacity: u64,
    /// Rate at which operations are due, if any; service times are then recorded as well.
    pub(crate) rate: Option<u64>,
    /// Nothing ends in these seconds, counted from time zero.
    pub(crate) stall: Vec<u64>,
    /// `not_found` errors in each second.
    pub(crate) not_found: u64,
    /// The end of a load that comes to one.
    pub(crate) completed: Option<RunEvent>,
    /// Power as a probe reads it, W.
    pub(crate) watts: Option<f64>,
}

impl KeyValue {
    /// SQLite alone, saturated, nothing special.
    pub(crate) fn plain() -> Self {
        Self {
            factors: String::new(),
            more: String::new(),
            capacity: 4_000,
            rate: None,
            stall: Vec::new(),
            not_found: 0,
            completed: None,
            watts: None,
        }
    }

    /// Three engines as levels of the factor.
    pub(crate) fn engines() -> Self {
        let factors = "[[factor]]\nsetting = \"engine.kind\"\nlevels = [\"mongodb\", \"postgresql\", \"sqlite\"]\n";
        Self { factors: factors.to_owned(), ..Self::plain() }
    }

    fn study_text(&self) -> String {
        let rate = self.rate.map_or_else(String::new, |rate| format!("rate = {rate}\n"));
        format!(
            "[study]\nname = \"key-value\"\ntitle = \"Key-value throughput by engine\"\nseed = 1\n\n\
             [workload]\nkind = \"ycsb\"\nrecords = 5000000000\nvirtual_users = 8\nmix = \"a\"\n{rate}{}\n\
             [engine]\nkind = \"sqlite\"\n\n[procedure]\nmeasure = \"20s\"\nerror_budget = 0.05\n\n{}",
            self.more, self.factors
        )
    }
}

/// A record of the study.
pub(crate) fn key_value(shape: &KeyValue) -> Record {
    let text = shape.study_text();
    let study = validate(&text, &[], &catalogue()).expect("the support's study is valid");
    let plan = expand(&study);
    let attempts = plan.runs.iter().zip(1i64..).map(|(run, id)| attempt(shape, *run, id)).collect();
    let at = WallTime(1_790_000_000_000_000);
    Record {
        created: at,
        documents: BTreeMap::from([("study.toml".to_owned(), text)]),
        plan,
        sessions: vec![SessionLine { at, program: "proofload 0.1.0".to_owned(), machine: "6.1.0".to_owned() }],
        facts: vec![
            Fact::observed("host", "cpu", "Simulated 2-core processor", "simulation"),
            Fact::observed("data", "records", "5000000000", "manifest"),
        ],
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

fn attempt(shape: &KeyValue, run: Run, id: i64) -> Attempt {
    let mut chance = Chance(run.seed);
    let capacity = shape.capacity >> run.point;
    let intervals: Vec<IntervalSample> =
        (0..SECONDS).map(|index| second(shape, index, capacity, &mut chance)).collect();
    let mut attempt = Attempt {
        id,
        run,
        state: State::Finished,
        started: WallTime(1_790_000_000_000_000 + id * 60_000_000),
        events: Vec::new(),
        facts: facts(),
        series: series(shape, &intervals),
        marks: Vec::new(),
        checks: vec![Check {
            group: "data".to_owned(),
            name: "sampled records".to_owned(),
            rule: "every sampled record is what the seed says".to_owned(),
            found: "1,000 of 1,000 records are right".to_owned(),
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

/// A second: in a stall nothing ends, and after it what a closed loop of 8 users had in flight ends late.
fn second(shape: &KeyValue, index: u64, capacity: u64, chance: &mut Chance) -> IntervalSample {
    let stalled = shape.stall.contains(&index);
    let after = index > 0 && shape.stall.contains(&(index - 1)) && !stalled;
    let possible = (capacity as f64 * (1.0 + 0.02 * chance.normal())) as u64;
    let each = if stalled { 0 } else { shape.rate.map_or(possible, |rate| rate.min(possible)) / 2 };
    let mut interval = IntervalSample {
        index,
        counts: Vec::new(),
        histograms: Vec::new(),
        errors: Vec::new(),
        client: ClientSelf {
            thread_cpu_ns: vec![300_000_000; 2],
            resident_bytes: 20 << 20,
            send_lag_ns_p99: shape.rate.map(|_| 20_000),
            offered: None,
            paused_ns: 0,
        },
        engine: Vec::new(),
    };
    for (kind, ms) in [("read", 1.0), ("update", 2.0)] {
        let failed = if kind == "read" && !stalled { shape.not_found } else { 0 };
        let mean_ns = ms * 8.0 / capacity as f64 / 1.5 / 1.163 * 1e9;
        let mut values: Vec<u64> = (0..each).map(|_| (mean_ns * (0.55 * chance.normal()).exp()) as u64).collect();
        if after {
            values.iter_mut().take(4).for_each(|value| *value += shape.stall.len() as u64 * 1_000_000_000);
        }
        if shape.rate.is_some() {
            interval.histograms.push(histogram(kind, LatencyClock::Service, &values));
            values.iter_mut().for_each(|value| *value += 100_000);
        }
        interval.histograms.push(histogram(kind, LatencyClock::Response, &values));
        interval.counts.push(OperationCounts {
            kind: kind.to_owned(),
            due: each + failed,
            done: each,
            failed,
            ..OperationCounts::default()
        });
        if failed > 0 {
            let text = "no record has the key user17".to_owned();
            interval.errors.push(ErrorCount {
                kind: kind.to_owned(),
                code: "not_found".to_owned(),
                text,
                count: failed,
            });
        }
    }
    // The workload knows more kinds than this mix has.
    interval.counts.push(OperationCounts { kind: "scan".to_owned(), ..OperationCounts::default() });
    let bytes = |name: &str, value: f64| Reading {
        name: name.to_owned(),
        component: String::new(),
        unit: "B".to_owned(),
        value,
    };
    interval.engine =
        vec![bytes("logical_written", each as f64 * UPDATE_BYTES), bytes("logical_read", each as f64 * READ_BYTES)];
    interval
}

fn histogram(kind: &str, clock: LatencyClock, values: &[u64]) -> HistogramDelta {
    super::histograms::histogram(kind, clock, 10_000_000_000, values.iter().copied())
}

fn facts() -> Vec<Fact> {
    [
        ("path", "lean"),
        ("engine_in_process", "false"),
        ("mix", "50 % read, 50 % update"),
        ("keys.choice", "zipfian, 0.99"),
        ("keys.mode", "exact"),
        ("record shape", "10 fields of 100 B"),
        ("data.records", "5000000000"),
        ("reads checked", "all"),
        ("some.other_fact", "17"),
    ]
    .into_iter()
    .map(|(name, value)| Fact::observed("client", name, value, "load agent"))
    .collect()
}

fn series(shape: &KeyValue, intervals: &[IntervalSample]) -> Vec<SeriesPoint> {
    let make = |probe: &str, name: &str, component: &str, unit: &str, value: &dyn Fn(f64) -> f64| SeriesPoint {
        probe: probe.to_owned(),
        name: name.to_owned(),
        component: component.to_owned(),
        instance: InstanceName::default(),
        unit: unit.to_owned(),
        samples: intervals
            .iter()
            .map(|interval| {
                let updates = interval.counts[1].done as f64;
                (Offset((interval.index as i64 + 1) * 1_000_000_000), 1_000_000_000, value(updates))
            })
            .collect(),
    };
    let mut series = vec![
        make("cores", "busy", "0", "%", &|_| 80.0),
        make("cores", "busy_mean", "", "%", &|_| 80.0),
        make("device", "read_bytes", "nvme0n1", "B/s", &|updates| 0.2 * 4_096.0 * updates),
        make("device", "write_bytes", "nvme0n1", "B/s", &|updates| 12.0 * UPDATE_BYTES * updates),
        make("device", "reads", "nvme0n1", "1/s", &|updates| 0.2 * updates),
        make("device", "writes", "nvme0n1", "1/s", &|updates| 0.3 * updates),
        make("device", "busy", "nvme0n1", "%", &|_| 40.0),
    ];
    series.extend(shape.watts.map(|watts| make("power", "watts", "package-0", "W", &|_| watts)));
    series
}

fn events(shape: &KeyValue, attempt: &Attempt) -> Vec<AttemptEvent> {
    let mut totals: Vec<OperationCounts> = Vec::new();
    for counts in attempt.intervals.iter().flat_map(|interval| &interval.counts) {
        match totals.iter_mut().find(|total| total.kind == counts.kind) {
            Some(total) => {
                (total.due, total.done, total.failed) =
                    (total.due + counts.due, total.done + counts.done, total.failed + counts.failed);
            }
            None => totals.push(counts.clone()),
        }
    }
    let stopped = RunEvent::LoadStopped { intervals: attempt.intervals.len() as u64, totals };
    let mut named =
        vec![RunEvent::Steady { seconds: Some(15) }, RunEvent::Window { from: WINDOW.0, to: WINDOW.1 }, stopped];
    named.extend(shape.completed.clone());
    let event = |(index, event)| AttemptEvent::new(WallTime(attempt.started.0 + index as i64 * 5_000_000), event);
    named.into_iter().enumerate().map(event).collect()
}
