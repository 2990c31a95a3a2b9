//! What it costs the conductor to merge the seconds of many load agents: decode their messages, add their histograms, write and commit the
//! merged second. Prints CPU seconds per second of load, and the most memory that was resident.
//!
//! `cargo bench -p proofload --bench load_agents -- [agents] [kinds] [seconds] [clocks]`; without words 200 agents, 12 kinds, 60 seconds,
//! 1 clock. Messages are made before the clock starts; their bytes are printed and are part of the memory.

#![allow(clippy::print_stdout, reason = "a bench prints")]

use proofload_load::intervals::{Latencies, Merger};
use proofload_model::catalogue::Catalogue;
use proofload_model::plan::expand;
use proofload_model::samples::{ClientSelf, IntervalSample, LatencyClock, OperationCounts};
use proofload_model::study::validate;
use proofload_model::time::WallTime;
use proofload_model::wire::{Event, Message};
use proofload_record::{AttemptId, Opening, Recorder};
use rustix::time::{ClockId, clock_gettime};
use std::path::Path;
use std::time::Instant;

/// Seconds of each agent that are made; they come again and again under new numbers.
const VARIANTS: u64 = 2;

/// Operations of a kind in a second of an agent.
const OPERATIONS: u64 = 5_000;

/// How many of everything.
#[derive(Debug, Clone, Copy)]
struct Asked {
    agents: usize,
    kinds: usize,
    seconds: u64,
    clocks: usize,
}

/// A small generator.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Latencies as databases have them: about lognormal around 2 ms, with a tail.
    fn latency_ns(&mut self) -> u64 {
        let normal: f64 = (0..12).map(|_| self.next()).sum::<f64>() - 6.0;
        (2e6 * (0.7 * normal).exp()) as u64
    }
}

fn second(asked: Asked, chance: &mut Chance) -> IntervalSample {
    let mut sample = IntervalSample {
        index: 0,
        counts: Vec::new(),
        histograms: Vec::new(),
        errors: Vec::new(),
        client: ClientSelf { thread_cpu_ns: vec![300_000_000; 4], resident_bytes: 15 << 20, ..ClientSelf::default() },
        engine: Vec::new(),
    };
    for number in 0..asked.kinds {
        let kind = format!("kind_{number}");
        for clock in [LatencyClock::Response, LatencyClock::Service].into_iter().take(asked.clocks) {
            let mut latencies = Latencies::default();
            (0..OPERATIONS).for_each(|_| latencies.record(chance.latency_ns()));
            sample.histograms.extend(latencies.to_delta(&kind, clock));
        }
        let counts = OperationCounts { kind, due: OPERATIONS, done: OPERATIONS, ..OperationCounts::default() };
        sample.counts.push(counts);
    }
    sample
}

/// Messages of every agent and variant, as they come on a stream.
fn messages(asked: Asked) -> Vec<Vec<Vec<u8>>> {
    let mut chance = Chance(88_172_645_463_325_252);
    let mut message = || {
        let sample = second(asked, &mut chance);
        postcard::to_allocvec(&Message::Event(Event::Interval(Box::new(sample)))).expect("plain data serialises")
    };
    (0..VARIANTS).map(|_| (0..asked.agents).map(|_| message()).collect()).collect()
}

fn recorder(path: &Path) -> (Recorder, AttemptId) {
    let catalogue = Catalogue {
        engines: proofload_engine::ENGINES.iter().map(|engine| engine.facts()).collect(),
        workloads: proofload_load::WORKLOADS.iter().map(|workload| workload.facts()).collect(),
    };
    let text = "[study]\nname = \"bench\"\ntitle = \"Merging\"\n[workload]\nkind = \"ycsb\"\nrecords = 1\nvirtual_users = 1\n[engine]\nkind = \"null\"\n";
    let study = validate(text, &[], &catalogue).expect("the bench's study is valid");
    let plan = expand(&study);
    let opening = Opening { study_text: text, study: &study, plan: &plan, program: "bench", at: WallTime(0) };
    let mut recorder = Recorder::create(path, &opening).expect("the folder takes a record");
    let attempt = recorder.begin_attempt(0, WallTime(0)).expect("an attempt begins");
    (recorder, attempt)
}

fn merge(asked: Asked, messages: &[Vec<Vec<u8>>], path: &Path) -> u64 {
    let (mut recorder, attempt) = recorder(path);
    let mut merger = Merger::new(asked.agents);
    merger.set_window(0..u64::MAX);
    let mut merged = 0;
    for index in 0..asked.seconds {
        for (agent, message) in messages[(index % VARIANTS) as usize].iter().enumerate() {
            let Ok(Message::Event(Event::Interval(mut sample))) = postcard::from_bytes(message) else {
                panic!("a message comes back")
            };
            sample.index = index;
            for second in merger.take(agent, *sample).expect("it adds up") {
                recorder.interval(attempt, &second.sample).expect("it fits");
                second.agents.iter().for_each(|own| recorder.agent_second(attempt, own).expect("it fits"));
                recorder.commit().expect("it is durable");
                merged += second.sample.histograms.iter().map(|delta| delta.count).sum::<u64>();
            }
        }
    }
    merger.of_window().iter().for_each(|own| recorder.agent_histogram(attempt, own).expect("it fits"));
    recorder.close().expect("the record closes");
    merged
}

fn cpu_seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Most memory that was resident, MiB.
fn most_resident() -> f64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    line.trim().trim_end_matches("kB").trim().parse::<f64>().unwrap_or(f64::NAN) / 1024.0
}

fn main() {
    let words: Vec<usize> = std::env::args().filter_map(|word| word.parse().ok()).collect();
    let word = |place: usize, default: usize| words.get(place).copied().unwrap_or(default);
    let asked = Asked { agents: word(0, 200), kinds: word(1, 12), seconds: word(2, 60) as u64, clocks: word(3, 1) };
    let messages = messages(asked);
    let bytes: usize = messages.iter().flatten().map(Vec::len).sum();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("bench.proof");
    let (before, begun, made) = (cpu_seconds(), Instant::now(), most_resident());
    let merged = merge(asked, &messages, &path);
    let (cpu, wall) = (cpu_seconds() - before, begun.elapsed().as_secs_f64());
    let (seconds, size) = (asked.seconds as f64, std::fs::metadata(&path).map_or(0, |file| file.len()));
    println!("{asked:?}");
    println!("  messages        {:.2} MB a second", bytes as f64 / VARIANTS as f64 / 1e6);
    println!("  CPU             {:.4} s for each second of load", cpu / seconds);
    println!("  time            {:.4} s for each second of load", wall / seconds);
    println!("  most resident   {:.1} MiB, {made:.1} MiB of it before: messages and what made them", most_resident());
    println!("  record          {:.3} MB a second", size as f64 / seconds / 1e6);
    println!("  latencies       {merged} merged");
    let expected = (asked.agents * asked.kinds * asked.clocks) as u64 * OPERATIONS * asked.seconds;
    assert_eq!(merged, expected, "none is lost and none is doubled");
}
