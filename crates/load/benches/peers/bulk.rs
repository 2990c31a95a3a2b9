//! What a build costs beside `psql \copy` of the same rows into the same tables with the same keys and indexes, frozen,
//! analysed and written to disk: time, CPU of client and server, rows per second. In every round each way builds anew,
//! in an order that turns.

use super::client::{self, Work};
use super::processes::ended_children;
use super::ratio::of_pairs;
use super::server::{Server, ServerKind};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Instant;

/// The first word on the command line.
pub(crate) const WORD: &str = "bulk";

const SCHEMA: &str = include_str!("../../suites/tprocc/postgresql/schema.sql");
const INDEXES: &str = include_str!("../../suites/tprocc/postgresql/indexes.sql");

/// Tables with the column that says whose warehouse a row is; the items belong to all.
const TABLES: [(&str, &str); 9] = [
    ("warehouse", "w_id"),
    ("district", "d_w_id"),
    ("customer", "c_w_id"),
    ("history", "h_w_id"),
    ("new_order", "no_w_id"),
    ("orders", "o_w_id"),
    ("order_line", "ol_w_id"),
    ("stock", "s_w_id"),
    ("item", ""),
];

/// What one build came to, s.
#[derive(Debug, Clone, Copy, Default)]
struct Built {
    seconds: f64,
    /// Share of it spent in checks that the other builds do not make.
    checks: f64,
    client: f64,
    server: f64,
}

/// A way to fill a database.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Way {
    Ours,
    /// psql, so many of them side by side for the rows and for the indexes.
    Copy(usize),
}

impl Way {
    const ALL: [Way; 3] = [Way::Ours, Way::Copy(1), Way::Copy(4)];

    fn name(self) -> String {
        match self {
            Way::Ours => "Proofload".to_owned(),
            Way::Copy(1) => "psql \\copy, one after another".to_owned(),
            Way::Copy(sessions) => format!("psql \\copy, {sessions} side by side"),
        }
    }
}

/// Builds in alternation and prints the table.
pub(crate) fn run(rounds: usize, warehouses: u32) {
    let server = match Server::start(ServerKind::PostgreSql) {
        Ok(server) => server,
        Err(reason) => return println!("left out: {reason}"),
    };
    let address = server.place.target.address().expect("a started server has one").to_owned();
    let work = Work {
        engine: ServerKind::PostgreSql.engine(),
        address,
        form: "procedures",
        profile: "spec",
        warehouses,
        users: 1,
        seconds: 0,
    };
    client::build(&work);
    let files = export(&server, warehouses);
    let rows: u64 = count(&server);
    drop_all(&server);
    println!("PostgreSQL {}, {warehouses} warehouses, {rows} rows", server.version);
    let mut found = vec![Vec::new(); Way::ALL.len()];
    for round in 0..rounds {
        let mut order: Vec<usize> = (0..Way::ALL.len()).collect();
        if round % 2 == 1 {
            order.reverse();
        }
        for place in order {
            let built = build(Way::ALL[place], &server, &work, &files);
            println!("round {}: {}: {}", round + 1, Way::ALL[place].name(), line(built, rows));
            found[place].push(built);
            drop_all(&server);
        }
    }
    tell(&found, rows, warehouses, &server.version);
}

fn line(built: Built, rows: u64) -> String {
    let net = built.seconds - built.checks;
    format!(
        "{:.1} s and {:.1} s of checks, {:.0} rows/s, client {:.1} and server {:.1} s of CPU",
        net,
        built.checks,
        rows as f64 / net,
        built.client,
        built.server
    )
}

/// The database's rows as files, a file for each table and warehouse.
fn export(server: &Server, warehouses: u32) -> Vec<(String, PathBuf)> {
    let folder = server.folder.with_file_name("rows");
    std::fs::create_dir_all(&folder).expect("a folder beside the instance");
    let mut files = Vec::new();
    let mut script = String::new();
    for w_id in 1..=warehouses {
        for (table, key) in TABLES.iter().filter(|(_, key)| w_id == 1 || !key.is_empty()) {
            let path = folder.join(format!("{table}.{w_id}"));
            let of_it = if key.is_empty() { String::new() } else { format!(" WHERE {key} = {w_id}") };
            writeln!(script, "\\copy (SELECT * FROM {table}{of_it}) TO '{}'", path.display())
                .expect("a string takes it");
            files.push(((*table).to_owned(), path));
        }
    }
    psql(server, "proofload", &script);
    files
}

fn count(server: &Server) -> u64 {
    let sums: Vec<String> = TABLES.iter().map(|(table, _)| format!("(SELECT count(*) FROM {table})")).collect();
    psql(server, "proofload", &format!("SELECT {};", sums.join(" + "))).trim().parse().expect("a number of rows")
}

/// Fills an empty database.
fn build(way: Way, server: &Server, work: &Work, files: &[(String, PathBuf)]) -> Built {
    let (client, of_server, started) = (ended_children(), server.cpu(), Instant::now());
    let checks = match way {
        Way::Ours => build_ours(work),
        Way::Copy(sessions) => {
            copy(server, files, sessions);
            0.0
        }
    };
    let seconds = started.elapsed().as_secs_f64();
    Built { seconds, checks, client: ended_children() - client, server: server.cpu() - of_server }
}

/// Our build in a process of its own; how long its checks took, s.
fn build_ours(work: &Work) -> f64 {
    let mut words = work.words();
    words[0] = "build".to_owned();
    let output = Command::new(std::env::current_exe().expect("this program has a path"))
        .args(words)
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .expect("this program starts again");
    assert!(output.status.success(), "the build failed: {}", output.status);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let phases: Vec<(f64, &str)> = text
        .lines()
        .filter_map(|line| line.strip_prefix("phase ")?.split_once(' '))
        .filter_map(|(at, what)| Some((at.parse().ok()?, what)))
        .collect();
    let told: Vec<String> = phases.iter().map(|(at, what)| format!("{what} at {at:.1} s")).collect();
    println!("  {}", told.join(", "));
    let at = |wanted: &str| phases.iter().find(|(_, what)| *what == wanted).map(|(at, _)| *at);
    at("settling the data").unwrap_or_default() - at("checking the data").unwrap_or_default()
}

/// The files into new tables, then keys, indexes, freezing, statistics, checkpoint.
fn copy(server: &Server, files: &[(String, PathBuf)], sessions: usize) {
    psql(server, "postgres", "CREATE DATABASE proofload;");
    psql(server, "proofload", &format!("CREATE SCHEMA proofload;\n{SCHEMA}"));
    let copies = files.iter().map(|(table, path)| format!("\\copy {table} FROM '{}'\n", path.display()));
    side_by_side(server, copies.collect(), sessions);
    side_by_side(server, INDEXES.split_inclusive(';').map(|text| format!("{text}\n")).collect(), sessions);
    let tables = TABLES.iter().map(|(table, _)| format!("VACUUM (FREEZE, ANALYZE) {table};\n"));
    side_by_side(server, tables.collect(), 1);
    psql(server, "proofload", "CHECKPOINT;");
}

/// Scripts dealt out to sessions; one session takes them in their order.
fn side_by_side(server: &Server, scripts: Vec<String>, sessions: usize) {
    let mut dealt = vec![String::new(); sessions];
    for (place, script) in scripts.into_iter().enumerate() {
        dealt[place % sessions] += &script;
    }
    std::thread::scope(|scope| {
        for script in &dealt {
            scope.spawn(|| psql(server, "proofload", script));
        }
    });
}

fn drop_all(server: &Server) {
    psql(server, "postgres", "DROP DATABASE proofload;\nCHECKPOINT;");
}

/// Runs a script; what it printed.
fn psql(server: &Server, database: &str, script: &str) -> String {
    server.psql(database, script).unwrap_or_else(|error| panic!("{error}"))
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn tell(found: &[Vec<Built>], rows: u64, warehouses: u32, version: &str) {
    let average = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    println!("\nload average at the end {}", average.trim());
    println!(
        "medians; ratios: Proofload over each, geometric mean of the rounds' pairs with its 95 % confidence interval\n"
    );
    println!(
        "| way | s, indexed and analysed | ratio | with its checks, s | ratio | rows/s | client CPU s/warehouse | server CPU s |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    let mut lines = Vec::new();
    for (way, built) in Way::ALL.iter().zip(found) {
        let of = |value: fn(&Built) -> f64| median(built.iter().map(value).collect());
        let ratio = |value: fn(&Built) -> f64| {
            of_pairs(found[0].iter().zip(built).map(|(one, other)| (value(one), value(other))))
        };
        let net = |built: &Built| built.seconds - built.checks;
        println!(
            "| {} | {:.1} | {} | {:.1} | {} | {:.0} | {:.2} | {:.1} |",
            way.name(),
            of(net),
            ratio(net),
            of(|built| built.seconds),
            ratio(|built| built.seconds),
            rows as f64 / of(net),
            of(|built| built.client) / f64::from(warehouses),
            of(|built| built.server)
        );
        let list = |value: fn(&Built) -> f64| {
            built.iter().map(|built| format!("{:.3}", value(built))).collect::<Vec<_>>().join(",")
        };
        lines.push(format!(
            "{{\"way\":\"{}\",\"seconds\":[{}],\"checks_s\":[{}],\"client_cpu_s\":[{}],\"server_cpu_s\":[{}]}}",
            way.name().replace('\\', "\\\\"),
            list(|built| built.seconds),
            list(|built| built.checks),
            list(|built| built.client),
            list(|built| built.server)
        ));
    }
    println!(
        "\njson {{\"about\":\"a build beside psql\",\"postgresql\":\"{version}\",\"warehouses\":{warehouses},\"rows\":{rows},\"load_average\":\"{}\",\"ways\":[{}]}}",
        average.trim(),
        lines.join(",")
    );
}
