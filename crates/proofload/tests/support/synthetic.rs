//! Records whose truth is known, written by the recorder itself: a key-value workload on the null engine, steady and valid, whose
//! runs scatter by 1 %. Made from a seed; no clock, no load.

use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};
use proofload_model::catalogue::Catalogue;
use proofload_model::deployment::InstanceName;
use proofload_model::events::RunEvent;
use proofload_model::log_level::LogLevel;
use proofload_model::plan::{Run, expand};
use proofload_model::samples::{
    Check, CheckOutcome, ClientSelf, ErrorCount, Fact, HistogramDelta, IntervalSample, LatencyClock, Mark, MarkLabel,
    OfferedLoad, OperationCounts, Reading, Telemetry,
};
use proofload_model::series;
use proofload_model::study::validate;
use proofload_model::time::{Moment, Offset, WallTime};
use proofload_record::{AttemptEvent, AttemptId, LogLine, Opening, Recorder};
use std::path::Path;

/// First second of the window.
const WINDOW_FROM: u64 = 5;

/// Length of the load, s, unless asked otherwise; its last second is outside the window.
const SECONDS: u64 = 26;

/// When the record was begun: 2026-09-21 14:13:20 UTC.
pub(crate) const BEGUN: WallTime = WallTime(1_790_000_000_000_000);

/// What is written.
#[derive(Debug, Clone)]
pub(crate) struct Synthetic {
    /// Operations per second at the first of two levels, half as many at the second; of more levels, the most that there can be.
    pub(crate) rate: f64,
    /// Numbers of virtual users, one point for each.
    pub(crate) users: &'static [u32],
    /// Runs of each point.
    pub(crate) repetitions: u32,
    /// Seed of the study.
    pub(crate) seed: u32,
    /// Whether throughput of the last point falls all the time, beside a compiler that takes half of the processor.
    pub(crate) falling: bool,
    /// Whether the load is offered by a schedule, so that there is send lag and a backlog.
    pub(crate) scheduled: bool,
    /// Days after [`BEGUN`] on which it is begun.
    pub(crate) day: i64,
    /// Length of each load, s.
    pub(crate) seconds: u64,
    /// Series of telemetry besides the cores.
    pub(crate) series: usize,
}

impl Synthetic {
    pub(crate) fn of(rate: f64, seed: u32) -> Self {
        Self {
            rate,
            users: &[4, 2],
            repetitions: 3,
            seed,
            falling: false,
            scheduled: false,
            day: 0,
            seconds: SECONDS,
            series: 0,
        }
    }

    /// The study file.
    pub(crate) fn study(&self) -> String {
        format!(
            "[study]\nname = \"synthetic\"\ntitle = \"Operations that were never sent\"\nrepetitions = {}\nseed = {}\n\n\
             [workload]\nkind = \"ycsb\"\nvirtual_users = {}\nrecords = 1000\n{}\n[engine]\nkind = \"null\"\n\n\
             [procedure]\nmeasure = \"{}s\"\nrestore = \"never\"\n\n\
             [[factor]]\nsetting = \"workload.virtual_users\"\nlevels = {:?}\n",
            self.repetitions,
            self.seed,
            self.users[0],
            if self.scheduled { format!("rate = {}\n", self.rate) } else { String::new() },
            self.seconds - WINDOW_FROM - 1,
            self.users
        )
    }

    /// Writes the record.
    pub(crate) fn write(&self, path: &Path) {
        self.write_begun(path, usize::MAX);
    }

    /// Writes the record of a study that was left after so many of its runs.
    pub(crate) fn write_begun(&self, path: &Path, runs: usize) {
        let catalogue = Catalogue {
            engines: proofload_engine::ENGINES.iter().map(|engine| engine.facts()).collect(),
            workloads: proofload_load::WORKLOADS.iter().map(|workload| workload.facts()).collect(),
        };
        let text = self.study();
        let study = validate(&text, &[], &catalogue).expect("the support's study is valid");
        let plan = expand(&study);
        let opening =
            Opening { study_text: &text, study: &study, plan: &plan, program: "proofload 0.1.0", at: self.begun() };
        let mut recorder = Recorder::create(path, &opening).expect("the folder takes a record");
        recorder.facts(None, &[Fact::observed("host", "cores", "2", "simulation")]).expect("a fact fits");
        for run in plan.runs.iter().take(runs) {
            self.run(&mut recorder, *run);
        }
        recorder.close().expect("the record closes");
    }

    /// Writes the record in place of another one.
    pub(crate) fn write_anew(&self, path: &Path) {
        std::fs::remove_file(path).expect("it is there");
        self.write(path);
    }

    fn begun(&self) -> WallTime {
        WallTime(BEGUN.0 + self.day * 86_400_000_000)
    }

    /// Operations per second of a run: half as many at the second of two levels; of more levels, those of a server that users fill.
    fn rate_of(&self, run: Run) -> f64 {
        match self.users {
            [_] | [_, _] => self.rate / f64::from(1 << run.point),
            users => {
                let users = f64::from(users[run.point as usize]);
                self.rate * users / (users + 20.0)
            }
        }
    }

    fn run(&self, recorder: &mut Recorder, run: Run) {
        let room = self.seconds.max(60) as i64;
        let at = |second: u64| WallTime(self.begun().0 + (i64::from(run.index) * room + second as i64) * 1_000_000);
        let attempt = recorder.begin_attempt(run.index, at(0)).expect("an attempt begins");
        let begun = Some(Offset(-1_000_000_000));
        let started = AttemptEvent { offset: begun, ..AttemptEvent::new(at(0), RunEvent::LoadStarted(Some(run.seed))) };
        recorder.event(Some(attempt), &started).expect("an event fits");
        let (mut chance, falling) = (Chance(run.seed), self.falling && run.point == 1);
        let rate = self.rate_of(run) * (1.0 + 0.01 * chance.normal());
        let mut totals: Vec<OperationCounts> = Vec::new();
        for index in 0..self.seconds {
            let left = if falling { 1.0 - 0.02 * index as f64 } else { 1.0 };
            let mut sample = second(index, rate * left * (1.0 + 0.01 * chance.normal()), &mut chance);
            if self.scheduled {
                self.offer(&mut sample, &mut chance);
            }
            add(&mut totals, &sample.counts);
            recorder.interval(attempt, &sample).expect("an interval fits");
            let readings = vec![reading("busy", "0", "%", 60.0 + index as f64), reading("busy", "1", "%", 40.0)];
            let end = Offset((index as i64 + 1) * 1_000_000_000);
            let telemetry = Telemetry {
                instance: InstanceName::default(),
                probe: "cores".to_owned(),
                moment: Moment(0),
                span_ns: 1_000_000_000,
                readings,
            };
            recorder.telemetry(attempt, end, &telemetry).expect("readings fit");
            if self.series > 0 {
                let value = |number| 50.0 + f64::from(number) + chance.uniform();
                let readings = (0..self.series as u32).map(value).enumerate();
                let readings = readings.map(|(number, value)| reading("extra", &number.to_string(), "1/s", value));
                let extra = Telemetry { probe: "extra".to_owned(), readings: readings.collect(), ..telemetry.clone() };
                recorder.telemetry(attempt, end, &extra).expect("readings fit");
            }
            if falling {
                let readings =
                    vec![series::foreign::CPU.reading("", 1.0), series::foreign::PROCESS.reading("cc1", 1.0)];
                let foreign = Telemetry { probe: series::foreign::PROBE.to_owned(), readings, ..telemetry };
                recorder.telemetry(attempt, end, &foreign).expect("readings fit");
            }
        }
        self.end(recorder, attempt, at(self.seconds), &totals);
    }

    fn end(&self, recorder: &mut Recorder, attempt: AttemptId, at: WallTime, totals: &[OperationCounts]) {
        let events = [
            RunEvent::WarmedUp { seconds: 4 },
            RunEvent::Window { from: WINDOW_FROM, to: self.seconds - 1 },
            RunEvent::LoadStopped { intervals: self.seconds, totals: totals.to_vec() },
        ];
        for event in events {
            recorder.event(Some(attempt), &AttemptEvent::new(at, event)).expect("an event fits");
        }
        let mark =
            Mark { moment: Moment(1), offset: Offset(5_000_000_000), counters: vec![("rows".to_owned(), 1_000)] };
        recorder.mark(attempt, MarkLabel::WindowStart, &mark).expect("a mark fits");
        let check = Check {
            group: "data".to_owned(),
            name: "sampled \"records\"".to_owned(),
            rule: "every sampled record is right, or it is wrong".to_owned(),
            found: "1,000 of 1,000".to_owned(),
            outcome: CheckOutcome::Met,
            offenders: vec!["none\nat all".to_owned()],
            sample: None,
            lost: None,
        };
        recorder.checks(attempt, &[check]).expect("a check fits");
        let line = LogLine {
            attempt: Some(attempt.0),
            at,
            level: LogLevel::Info,
            source: "conductor".to_owned(),
            instance: InstanceName::default(),
            text: "=a log line".to_owned(),
        };
        recorder.log(&line).expect("a line fits");
        recorder.finish(attempt, at).expect("the run is sealed");
    }

    /// What a schedule adds: send lag, and three operations that always wait; the last second was not lasted through.
    fn offer(&self, sample: &mut IntervalSample, chance: &mut Chance) {
        let due: u64 = sample.counts.iter().map(|counts| counts.due).sum();
        let first = if sample.index == 0 { 3 } else { 0 };
        sample.client.offered =
            (sample.index + 1 < self.seconds).then_some(OfferedLoad { due: due + first, waiting: 3 });
        let lag = HistogramDelta { clock: LatencyClock::SendLag, ..histogram("", due, 20_000.0, chance) };
        sample.client.send_lag_ns_p99 = Some(lag.max_ns);
        sample.histograms.push(lag);
    }
}

fn add(totals: &mut Vec<OperationCounts>, counts: &[OperationCounts]) {
    for counts in counts {
        match totals.iter_mut().find(|total| total.kind == counts.kind) {
            Some(total) => {
                total.due += counts.due;
                total.done += counts.done;
                total.failed += counts.failed;
            }
            None => totals.push(counts.clone()),
        }
    }
}

fn reading(name: &str, component: &str, unit: &str, value: f64) -> Reading {
    Reading { name: name.to_owned(), component: component.to_owned(), unit: unit.to_owned(), value }
}

/// Half reads, half updates.
fn second(index: u64, rate: f64, chance: &mut Chance) -> IntervalSample {
    let kinds = ["read", "update"];
    let ended = ((rate / 2.0).round() as u64).max(1);
    let counts = kinds.map(|kind| OperationCounts {
        kind: kind.to_owned(),
        due: ended,
        done: ended,
        ..OperationCounts::default()
    });
    let histograms = kinds.map(|kind| histogram(kind, ended, 4e9 / rate, chance));
    IntervalSample {
        index,
        counts: counts.to_vec(),
        histograms: histograms.to_vec(),
        errors: Vec::<ErrorCount>::new(),
        client: ClientSelf {
            thread_cpu_ns: vec![1_000_000],
            resident_bytes: 1 << 20,
            send_lag_ns_p99: None,
            offered: None,
            paused_ns: 0,
        },
        engine: vec![reading("statement_runs", "", "1/s", rate)],
    }
}

fn histogram(kind: &str, count: u64, typical_ns: f64, chance: &mut Chance) -> HistogramDelta {
    let mut histogram = Histogram::<u64>::new_with_bounds(1, 3_600_000_000_000, 3).expect("the bounds are valid");
    let mut sum_ns = 0;
    for _ in 0..count {
        let value = (typical_ns * (0.4 * chance.normal()).exp()) as u64;
        histogram.record(value).expect("the value is within the bounds");
        sum_ns += value;
    }
    let mut payload = Vec::new();
    V2DeflateSerializer::new().serialize(&histogram, &mut payload).expect("writing to memory cannot fail");
    let max_ns = histogram.max();
    HistogramDelta { kind: kind.to_owned(), clock: LatencyClock::Response, count, sum_ns, max_ns, payload }
}

/// A small generator (`SplitMix64`).
struct Chance(u64);

impl Chance {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut state = self.0;
        state = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        state = (state ^ (state >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((state ^ (state >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Roughly normal: mean 0, deviation 1.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }
}
