//! The cases of ssh: loads, a database with its standby, a link that is cut, a host that dies, a key that has changed.

use super::lan::Lan;
use super::processes::{found, said, text, until};
use super::program::Program;
use super::run::{Found, case};
use super::ssh::SshServers;
use crate::work_folder::WorkFolder;
use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

const HOSTS: [&str; 4] = ["db1", "db2", "loader1", "loader2"];

/// How long the conductor may take to give up an agent that says nothing: 15 s, and its end.
const SILENCE: Duration = Duration::from_secs(40);

/// How long an agent may go on that hears nothing: 60 s without an acknowledgement, and its end.
const DEAF: Duration = Duration::from_secs(100);

/// Runs them.
pub(super) fn run(program: &Path) -> Result<(), String> {
    let folder = WorkFolder::below(Path::new("/var/tmp"), "proofload-hosts-ssh-")?;
    let lan = Lan::new(&HOSTS)?;
    let mut servers = SshServers::start(&folder, &lan)?;
    let program = Program { path: program, folder: &folder, environment: Vec::new() };
    let write = |name: &str, measure: &str| {
        folder.write(&format!("{name}.toml"), &load_study(name, &servers.client(), program.path, measure)).map(drop)
    };
    write("load", "4s")?;
    write("cut", "30s")?;
    write("death", "30s")?;
    write("key", "4s")?;
    folder.write("pair.toml", &pair_study(&folder, &lan, &servers.client(), program.path))?;
    case("agents are asked before a run", || asked(&program))?;
    case("a load on two hosts", || load(&program))?;
    case("a database, its standby and a load on three hosts", || pair(&program))?;
    case("a link that is cut in the window", || cut(&program))?;
    case("a host that dies in the window", || {
        let found = death(&program)?;
        let host = lan.hosts.iter().find(|host| host.name == "loader2").ok_or("no such host")?;
        servers.serve(host)?;
        program.ended(&["resume", "death.proof", "--no-report"])?;
        Ok(format!("{found}; the run is repeated when the host is back"))
    })?;
    case("a host whose key has changed", || {
        Lan::kill("loader1")?;
        servers.change_key("loader1")?;
        let host = lan.hosts.iter().find(|host| host.name == "loader1").ok_or("no such host")?;
        servers.serve(host)?;
        changed_key(&program)
    })?;
    let left = found(&agent(program.path));
    if left.is_empty() { Ok(()) } else { Err(format!("agents are left: {left:?}")) }
}

/// Words by which an agent of this program is found.
fn agent(program: &Path) -> String {
    format!("{} agent", program.display())
}

/// A key-value load on the engine without data: what is tried is the way, not a server.
fn load_study(name: &str, client: &str, program: &Path, measure: &str) -> String {
    format!(
        r#"
[study]
name = "{name}"
title = "A load on hosts behind ssh"
[workload]
kind = "ycsb"
mix = "b"
records = 1000
virtual_users = 9
rate = 3000
[engine]
kind = "null"
[storage]
path = "data"
[agents]
load_hosts = ["loader1", "loader2:2"]
load = [{client}, "{{host}}", "{}", "agent"]
[procedure]
warm_up = {{ at_least = "1s", at_most = "3s", round = "1s", tolerance = 0.5 }}
measure = "{measure}"
drift_tolerance = 1.0
"#,
        program.display()
    )
}

/// A primary, its standby and its users, each on a host of its own.
fn pair_study(folder: &WorkFolder, lan: &Lan, client: &str, program: &Path) -> String {
    let address = |name: &str| lan.hosts.iter().find(|host| host.name == name).map_or("", |host| &host.address);
    format!(
        r#"
[study]
name = "pair"
title = "A pair on hosts behind ssh"
[workload]
kind = "tprocc"
warehouses = 1
scale = "toy"
virtual_users = 2
[engine]
kind = "postgresql"
[storage]
path = "{data}"
[agents]
host = [{client}, "db1", "{program}", "agent"]
address = "{db1}"
standby_hosts = ["db2={db2}"]
standby = [{client}, "{{host}}", "{program}", "agent"]
load = [{client}, "loader1", "{program}", "agent"]
[replication]
mode = "remote_flush"
[procedure]
warm_up = {{ at_least = "2s", at_most = "6s", round = "1s", tolerance = 0.5 }}
measure = "5s"
drift_tolerance = 1.0
"#,
        data = folder.path("data").display(),
        program = program.display(),
        db1 = address("db1"),
        db2 = address("db2"),
    )
}

fn asked(program: &Program<'_>) -> Found {
    let told = program.run(&["agents", "load.toml"])?;
    if told.status.code() != Some(0) {
        return Err(said(&told));
    }
    Ok(text(&told.stdout).lines().next().unwrap_or_default().to_owned())
}

fn load(program: &Program<'_>) -> Found {
    program.ended(&["run", "load.toml", "--no-report"])?;
    let rows = program.table("load.proof", "load_agents")?;
    let numbers: BTreeSet<u64> = rows.iter().filter_map(|row| row["agent"].as_u64()).collect();
    let facts = program.table("load.proof", "facts")?;
    let is_of = |name: &str| facts.iter().any(|fact| fact["name"].as_str().is_some_and(|fact| fact.contains(name)));
    if numbers != BTreeSet::from([0, 1]) || !is_of("loader1") || !is_of("loader2") {
        return Err(format!("agents in the record: {numbers:?}"));
    }
    expect_checks(program, "load.proof")?;
    Ok(format!("{} seconds of {} agents add up", rows.len(), numbers.len()))
}

/// Every check but those of inputs, whose shares vary in a short run, is met.
fn expect_checks(program: &Program<'_>, record: &str) -> Result<(), String> {
    let checks = program.table(record, "checks")?;
    let failed = checks.iter().find(|check| check["outcome"] == "failed" && check["group"] != "inputs");
    match failed {
        Some(check) => Err(format!("a check failed: {check}")),
        None if checks.is_empty() => Err("nothing was checked".to_owned()),
        None => Ok(()),
    }
}

fn pair(program: &Program<'_>) -> Found {
    program.ended(&["run", "pair.toml", "--no-report"])?;
    expect_checks(program, "pair.proof")?;
    let facts = program.table("pair.proof", "facts")?;
    let of_standby = facts.iter().filter(|fact| fact["standby"] == "standby-1").count();
    if of_standby == 0 {
        return Err("no fact is the standby's".to_owned());
    }
    Ok(format!("remote_flush proved over the network, {of_standby} facts of the standby's host"))
}

fn cut(program: &Program<'_>) -> Found {
    let run = program.until_it_measures("cut")?;
    let begun = Instant::now();
    Lan::link("loader2", "down")?;
    let given_up = run.until_it_fails(SILENCE, "loader2")?;
    // The one on the other side of the link hears of nothing.
    let here = |name: &str| {
        let inside = Lan::processes(name).unwrap_or_default();
        found(&agent(program.path)).iter().filter(|(number, _)| inside.contains(&number.to_string())).count()
    };
    until("the agent of loader1 ends", SILENCE, || here("loader1") == 0)?;
    until("the agent of loader2 ends by itself", DEAF, || here("loader2") == 0)?;
    let alone = begun.elapsed();
    Lan::link("loader2", "up")?;
    program.ended(&["resume", "cut.proof", "--no-report"])?;
    Ok(format!(
        "given up after {:.0} s; the agent behind it ended by itself within {:.0} s; the run is repeated when it is back",
        given_up.as_secs_f64(),
        alone.as_secs_f64()
    ))
}

fn death(program: &Program<'_>) -> Found {
    let run = program.until_it_measures("death")?;
    let killed = Lan::kill("loader2")?;
    let noticed = run.until_it_fails(SILENCE, "loader2")?;
    Ok(format!("{killed} processes killed, the run ended after {:.1} s and names the host", noticed.as_secs_f64()))
}

fn changed_key(program: &Program<'_>) -> Found {
    let told = program.fails(&["agents", "key.toml"], &["loader1", "HOST IDENTIFICATION HAS CHANGED"])?;
    if text(&told.stdout).contains("✗ load  loader2") {
        return Err(format!("the other host is blamed too: {}", text(&told.stdout)));
    }
    program.fails(&["run", "key.toml", "--no-report"], &["loader1", "HOST IDENTIFICATION HAS CHANGED"])?;
    Ok("refused by name, with what ssh said".to_owned())
}
