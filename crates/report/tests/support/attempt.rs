//! One simulated run: 15 s of warm-up, 30 s of window, five kinds of transactions, telemetry of two cores and a drive.

use proofload_model::deployment::InstanceName;
use proofload_model::events::RunEvent;
use proofload_model::plan::Run;
use proofload_model::samples::{
    Check, CheckOutcome, ClientSelf, Fact, HistogramDelta, IntervalSample, LatencyClock, Mark, OperationCounts, Reading,
};
use proofload_model::time::{Moment, Offset, WallTime};
use proofload_record::{Attempt, AttemptEvent, SeriesPoint, State};

const WARM_UP: u64 = 15;
const WINDOW: (u64, u64) = (16, 46);
const SECONDS: u64 = 47;

/// Kind, share of the mix in hundredths, and how long it takes relative to New-Order.
const KINDS: &[(&str, u64, f64)] = &[
    ("new_order", 45, 1.0),
    ("payment", 43, 0.45),
    ("order_status", 4, 0.3),
    ("delivery", 4, 3.1),
    ("stock_level", 4, 1.9),
];

/// Level of each two seconds of a load that goes back and forth without moving on.
const BACK_AND_FORTH: [f64; 12] = [1.9, 0.1, 0.1, 1.9, 1.9, 1.9, 0.1, 0.1, 1.9, 0.1, 0.1, 1.9];

/// What is simulated.
#[derive(Debug, Clone)]
pub(crate) struct Simulated {
    /// The run.
    pub(crate) run: Run,
    /// Memory of the database, MiB.
    pub(crate) memory_mib: f64,
    /// Memory that the study asks for.
    pub(crate) memory_asked: Option<String>,
    /// How many times as fast the machine is.
    pub(crate) speed: f64,
    /// Whether a consistency condition fails.
    pub(crate) broken: bool,
    /// Whether there is no telemetry.
    pub(crate) blind: bool,
    /// Whether throughput goes back and forth.
    pub(crate) varied: bool,
}

/// A small generator of uniform numbers (`SplitMix64`).
pub(super) struct Chance(pub(super) u64);

impl Chance {
    pub(super) fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut state = self.0;
        state = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        state = (state ^ (state >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((state ^ (state >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Roughly normal: mean 0, deviation 1.
    pub(super) fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }
}

/// Share of accesses that find their page in memory.
fn hits(memory_mib: f64) -> f64 {
    1.0 - 0.9 * (-memory_mib / 190.0).exp()
}

fn transactions_per_second(memory_mib: f64) -> f64 {
    1_250.0 * hits(memory_mib)
}

/// Simulates a run that finished.
pub(crate) fn attempt(simulated: &Simulated, id: i64) -> Attempt {
    let mut chance = Chance(simulated.run.seed);
    let level = simulated.speed * transactions_per_second(simulated.memory_mib) * (1.0 + 0.01 * chance.normal());
    let mut orders = 0;
    let mut at_second = vec![0i64];
    let mut intervals = Vec::new();
    for index in 0..SECONDS {
        let warm = 1.0 - 0.6 * (-(index as f64) / 2.0).exp();
        let varied = if simulated.varied { BACK_AND_FORTH[index as usize / 2 % BACK_AND_FORTH.len()] } else { 1.0 };
        let wanted = level * varied * warm * (1.0 + 0.02 * chance.normal());
        let interval = second(index, wanted, level, &mut chance);
        orders += interval.counts[0].done as i64;
        at_second.push(orders);
        intervals.push(interval);
    }
    let mut attempt = Attempt {
        id,
        run: simulated.run,
        state: State::Finished,
        started: WallTime(1_790_000_000_000_000 + id * 60_000_000),
        events: Vec::new(),
        facts: facts(simulated),
        series: if simulated.blind { Vec::new() } else { series(simulated, &intervals, &mut chance) },
        marks: marks(&at_second),
        checks: checks(simulated.broken),
        agents: Default::default(),
        seal_holds: Some(true),
        intervals,
    };
    attempt.events = events(&attempt);
    attempt
}

fn second(index: u64, wanted: f64, level: f64, chance: &mut Chance) -> IntervalSample {
    let mut counts = Vec::new();
    let mut histograms = Vec::new();
    for (kind, share, weight) in KINDS {
        let ended = (wanted * *share as f64 / 100.0).round().max(1.0) as u64;
        let rolled_back = if *kind == "new_order" { ended / 100 } else { 0 };
        let typical = 4.0 / level / 0.8555 / 1.1633 * 1e9 * weight;
        histograms.push(histogram(kind, ended, typical, chance));
        counts.push(OperationCounts {
            kind: (*kind).to_owned(),
            due: ended,
            done: ended - rolled_back,
            rolled_back,
            ..OperationCounts::default()
        });
    }
    IntervalSample {
        index,
        counts,
        histograms,
        errors: Vec::new(),
        client: ClientSelf {
            thread_cpu_ns: vec![600_000_000; 4],
            resident_bytes: 90 << 20,
            send_lag_ns_p99: None,
            offered: None,
            paused_ns: 0,
        },
        engine: vec![Reading {
            name: "statement_runs".to_owned(),
            component: String::new(),
            unit: "1/s".to_owned(),
            value: wanted * 28.0,
        }],
    }
}

/// Response times with a long tail.
fn histogram(kind: &str, count: u64, typical_ns: f64, chance: &mut Chance) -> HistogramDelta {
    let draw = |_| (typical_ns * (0.55 * chance.normal()).exp()).max(1_000.0) as u64;
    super::histograms::histogram(kind, LatencyClock::Response, 10_000_000_000, (0..count).map(draw))
}

fn facts(simulated: &Simulated) -> Vec<Fact> {
    let mut facts = vec![Fact::observed("engine", "journal_mode", "wal", "PRAGMA journal_mode")];
    if let Some(asked) = &simulated.memory_asked {
        facts.push(Fact {
            subject: "limit".to_owned(),
            name: "memory.max".to_owned(),
            requested: Some(asked.clone()),
            effective: Some(asked.clone()),
            source: "control group v2, memory.max".to_owned(),
            holds: Some(true),
            ..Fact::default()
        });
    }
    facts.push(Fact {
        subject: "limit".to_owned(),
        name: "cores".to_owned(),
        requested: Some("2".to_owned()),
        effective: Some("2 (0-1)".to_owned()),
        source: "sched_getaffinity of every thread".to_owned(),
        holds: Some(true),
        ..Fact::default()
    });
    let peak = format!("{:.0}MiB", simulated.memory_mib.min(360.0));
    facts.push(Fact::observed("usage", "memory.peak", peak, "control group v2, memory.peak"));
    facts
}

fn series(simulated: &Simulated, intervals: &[IntervalSample], chance: &mut Chance) -> Vec<SeriesPoint> {
    let misses = 1.0 - hits(simulated.memory_mib);
    let done = |index: usize| intervals[index].counts.iter().map(|counts| counts.done).sum::<u64>() as f64;
    let mut make = |probe: &str, name: &str, component: &str, unit: &str, value: &mut dyn FnMut(usize, f64) -> f64| {
        let samples = (0..intervals.len()).map(|index| {
            let noise = 1.0 + 0.05 * chance.normal();
            (Offset((index as i64 + 1) * 1_000_000_000), 1_000_000_000, value(index, noise))
        });
        SeriesPoint {
            probe: probe.to_owned(),
            name: name.to_owned(),
            component: component.to_owned(),
            instance: InstanceName::default(),
            unit: unit.to_owned(),
            samples: samples.collect(),
        }
    };
    let busy = 55.0 + 40.0 * hits(simulated.memory_mib);
    vec![
        make("cores", "busy", "0", "%", &mut |_, noise| (busy * noise).min(100.0)),
        make("cores", "busy", "1", "%", &mut |_, noise| (busy * 0.9 * noise).min(100.0)),
        make("cores", "busy_mean", "", "%", &mut |_, noise| (busy * 0.95 * noise).min(100.0)),
        make("threads", "cpu", "41:user 0", "%", &mut |_, noise| 45.0 * noise),
        make("threads", "cpu_sum", "", "%", &mut |_, noise| 180.0 * noise),
        make("memory", "major_faults", "", "1/s", &mut |_, noise| 900.0 * misses * noise),
        make("device", "read_bytes", "nvme0n1", "B/s", &mut |index, noise| {
            done(index) * misses * 30.0 * 4_096.0 * noise
        }),
        make("device", "write_bytes", "nvme0n1", "B/s", &mut |index, noise| done(index) * 4.0 * 4_096.0 * noise),
        make("device", "reads", "nvme0n1", "1/s", &mut |index, noise| done(index) * misses * 30.0 * noise),
        make("device", "writes", "nvme0n1", "1/s", &mut |index, noise| done(index) * 4.0 * noise),
        make("device", "busy", "nvme0n1", "%", &mut |_, noise| (20.0 + 75.0 * misses) * noise.min(1.05)),
        make("pressure", "some", "io", "%", &mut |_, noise| 60.0 * misses * noise),
    ]
}

fn marks(at_second: &[i64]) -> Vec<(String, Mark)> {
    let mark = |label: &str, second: usize| {
        let offset = second as i64 * 1_000_000_000;
        let counters = vec![("new_orders".to_owned(), 120_000 + at_second[second])];
        (label.to_owned(), Mark { moment: Moment(offset as u64), offset: Offset(offset), counters })
    };
    vec![
        mark("before", 0),
        mark("window_start", WINDOW.0 as usize),
        mark("window_end", WINDOW.1 as usize),
        mark("after", SECONDS as usize),
    ]
}

fn checks(broken: bool) -> Vec<Check> {
    let check = |group: &str, name: String, rule: &str, found: &str, outcome: CheckOutcome| Check {
        group: group.to_owned(),
        name,
        rule: rule.to_owned(),
        found: found.to_owned(),
        outcome,
        offenders: Vec::new(),
        sample: None,
        lost: None,
    };
    let mut checks: Vec<Check> = (1..=12)
        .map(|number| {
            let rule = "sums of the tables agree over all warehouses";
            check("consistency", format!("condition {number}"), rule, "0 of 40 districts differ", CheckOutcome::Met)
        })
        .collect();
    if broken {
        checks[0].outcome = CheckOutcome::Failed;
        checks[0].found = "1 of 4 warehouses differs".to_owned();
        checks[0].offenders = vec!["w_id 3: w_ytd 300100.00, sum of d_ytd 300090.00".to_owned()];
    }
    let rule = "every acknowledged New-Order is in the database";
    checks.push(check("acknowledged", "new orders".to_owned(), rule, "all found", CheckOutcome::Met));
    checks.push(check(
        "inputs",
        "rolled back".to_owned(),
        "0.9 % to 1.1 %",
        "0.97 %, n = 9,120",
        CheckOutcome::TooSmall,
    ));
    checks
}

fn events(attempt: &Attempt) -> Vec<AttemptEvent> {
    let mut totals: Vec<OperationCounts> = Vec::new();
    for counts in attempt.intervals.iter().flat_map(|interval| &interval.counts) {
        match totals.iter_mut().find(|total| total.kind == counts.kind) {
            Some(total) => {
                total.due += counts.due;
                total.done += counts.done;
                total.rolled_back += counts.rolled_back;
            }
            None => totals.push(counts.clone()),
        }
    }
    let stopped = RunEvent::LoadStopped { intervals: attempt.intervals.len() as u64, totals };
    let named = [
        RunEvent::Prepared,
        RunEvent::LoadStarted(Some(attempt.run.seed)),
        RunEvent::Steady { seconds: Some(WARM_UP) },
        RunEvent::Window { from: WINDOW.0, to: WINDOW.1 },
        stopped,
        RunEvent::Finished,
    ];
    let event = |(index, event)| AttemptEvent::new(WallTime(attempt.started.0 + index as i64 * 5_000_000), event);
    named.into_iter().enumerate().map(event).collect()
}
