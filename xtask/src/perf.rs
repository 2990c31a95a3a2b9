//! Measures the cost of the client: runs the benches that the goals are stated for, or a comparison with other clients,
//! prints their lines, and keeps them with the commit in `benches/history.jsonl`, one line a run. CPU seconds and
//! ratios are to be relied on, wall times are not. It may not judge.

use crate::program::{cargo, text};
use serde_json::json;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

/// The benches: package, bench, what is passed to it, and what its lines are about.
const BENCHES: &[(&str, &str, &[&str], &str)] = &[
    ("proofload-gen", "ycsb", &[], "key, operation and value"),
    (
        "proofload-load",
        "workload",
        &["ycsb", "null", "5", "workload.records=300000000", "workload.virtual_users=8"],
        "key-value loop, null engine, 8 users",
    ),
    (
        "proofload-load",
        "workload",
        &["ycsb", "null", "5", "workload.records=300000000", "workload.virtual_users=256"],
        "key-value loop, null engine, 256 users",
    ),
    (
        "proofload-load",
        "workload",
        &["tprocc", "null", "5", "workload.warehouses=10", "workload.virtual_users=1"],
        "TPROC-C loop, null engine, 1 user",
    ),
    ("proofload-engine", "documents", &[], "MongoDB's client paths against the null target"),
    ("proofload-testbed", "relay", &[], "relay between instances: round trips, one stream, CPU time"),
];

/// File that keeps the lines.
const HISTORY: &str = "benches/history.jsonl";

/// Beginning of the line of a comparison that is meant for the history.
const FOR_THE_HISTORY: &str = "json ";

/// Runs what the first argument says; all benches without one.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    match arguments.split_first() {
        None => run_benches(),
        Some((what, rest)) if what == "oltp" => compare(&[], rest),
        Some((what, rest)) if what == "bulk" => compare(&["bulk"], rest),
        Some((what, _)) => Err(format!(
            "there is no comparison \"{what}\"; say cargo xtask perf, cargo xtask perf oltp, or cargo xtask perf bulk"
        )),
    }
}

/// Our TPROC-C client beside other clients on one server, or our build beside `psql`; tells as it goes, because it
/// takes minutes.
fn compare(mode: &[&str], arguments: &[String]) -> Result<(), String> {
    let mut child = cargo()
        .args(["bench", "--quiet", "--package", "proofload-load", "--bench", "peers", "--"])
        .args(mode)
        .args(arguments)
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("starting cargo: {error}"))?;
    let mut result = None;
    for line in child.stdout.take().map(BufReader::new).into_iter().flat_map(BufRead::lines) {
        let line = line.map_err(|error| format!("reading the comparison: {error}"))?;
        match line.strip_prefix(FOR_THE_HISTORY) {
            Some(json) => result = Some(json.to_owned()),
            None => say(&format!("{line}\n"))?,
        }
    }
    let status = child.wait().map_err(|error| format!("waiting for the comparison: {error}"))?;
    match result {
        Some(json) if status.success() => keep(&format!("{{\"commit\":{},\"comparison\":{json}}}\n", json!(commit()?))),
        Some(_) | None => Err(format!("the comparison came to no result: {status}")),
    }
}

/// Runs the benches of the table.
fn run_benches() -> Result<(), String> {
    let mut entries = Vec::new();
    for (package, bench, arguments, about) in BENCHES {
        say(&format!("\n{about}\n"))?;
        let lines = measure(package, bench, arguments)?;
        lines.iter().try_for_each(|line| say(&format!("  {line}\n")))?;
        entries.push(json!({ "about": about, "lines": lines }));
    }
    keep(&format!("{{\"commit\":{},\"benches\":{}}}\n", json!(commit()?), json!(entries)))
}

/// The lines of one bench.
fn measure(package: &str, bench: &str, arguments: &[&str]) -> Result<Vec<String>, String> {
    let mut bench_run = cargo();
    bench_run.args(["bench", "--quiet", "--package", package, "--bench", bench, "--"]).args(arguments);
    let text = text(bench_run.stderr(Stdio::inherit()))?;
    Ok(text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect())
}

/// The commit that was measured; with a mark when the tree has changes beside it.
fn commit() -> Result<String, String> {
    let output = Command::new("git")
        .args(["describe", "--always", "--dirty", "--abbrev=12"])
        .output()
        .map_err(|error| format!("starting git: {error}"))?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn keep(line: &str) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("writing {HISTORY}: {error}");
    std::fs::create_dir_all("benches").map_err(failed)?;
    let mut file = std::fs::OpenOptions::new().create(true).append(true).open(HISTORY).map_err(failed)?;
    file.write_all(line.as_bytes()).map_err(failed)
}

fn say(text: &str) -> Result<(), String> {
    std::io::stdout().write_all(text.as_bytes()).map_err(|error| format!("printing: {error}"))
}
