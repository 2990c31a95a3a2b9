//! Cost of the warehouse's data without an engine: CPU time, memory, bytes. For numbers in prose.
//!
//! `cargo bench -p proofload-load --bench generate -- <scale factor> <table> …`, all tables unless some are named.

#![expect(clippy::print_stdout, reason = "a bench tells its numbers on standard output")]

use proofload_load::workloads::warehouse::generated;
use std::time::Instant;

const TABLES: [&str; 8] = ["region", "nation", "supplier", "part", "customer", "partsupp", "orders", "lineitem"];

fn main() {
    let mut words = std::env::args().skip(1).filter(|word| word != "--bench");
    let scale: f64 = words.next().map_or(0.1, |word| word.parse().expect("the first word is a scale factor"));
    let named: Vec<String> = words.collect();
    let tables = TABLES.iter().filter(|table| named.is_empty() || named.iter().any(|name| name == *table));
    let (start, mut all) = (Instant::now(), 0);
    let before = cpu_seconds();
    for table in tables {
        let from = cpu_seconds();
        let (rows, bytes) = generated(table, scale).expect("there is such a table");
        all += bytes;
        println!("{table}: {rows} rows, {bytes} bytes of text, {}", rate(bytes, cpu_seconds() - from));
    }
    println!("all: {all} bytes, {}, {:.2} s", rate(all, cpu_seconds() - before), start.elapsed().as_secs_f64());
    println!("most memory: {}", status("VmHWM:"));
}

fn rate(bytes: u64, seconds: f64) -> String {
    format!("{seconds:.2} CPU s, {:.1} MB per CPU s", bytes as f64 / 1e6 / seconds.max(0.01))
}

/// CPU seconds of this process, in hundredths.
fn cpu_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").expect("a process can be asked for its times");
    let fields: Vec<&str> = text.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let ticks = |place: usize| fields[place].parse::<f64>().expect("times are numbers");
    (ticks(11) + ticks(12)) / 100.0
}

/// A line of the process's status.
fn status(name: &str) -> String {
    let text = std::fs::read_to_string("/proc/self/status").expect("a process can be asked for its status");
    text.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default().trim().to_owned()
}
