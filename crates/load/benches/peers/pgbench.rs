//! pgbench calling the procedures of our suite, prepared: what a client in C costs that does nothing else. It draws
//! comparable inputs: the deck's mix as weights, NURand by its own operators, remote lines and payments, names, unused
//! items.

use super::measure::Ran;
use super::ours::{DATABASE, DISTRICTS};
use super::peer::{Completed, Load, Peer, version};
use super::server::{Server, ServerKind};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::Command;

struct Pgbench {
    version: String,
    /// Files of the scripts with their weights.
    scripts: Vec<(PathBuf, u32)>,
}

/// Constants of NURand, any within their ranges (clause 2.1.6).
const NURAND_C_ID: u32 = 259;
const NURAND_ITEM: u32 = 7_911;
const NURAND_NAME: u32 = 157;

/// Syllables of last names (clause 4.3.2.3), as an array of SQL.
const SYLLABLES: &str = "(ARRAY['BAR','OUGHT','ABLE','PRI','PRES','ESE','ANTI','CALLY','ATION','EING'])";

pub(crate) fn find(server: &Server, load: Load) -> Result<Box<dyn Peer>, String> {
    let version = version("pgbench", &["--version"])?;
    let folder = server.folder.with_file_name("pgbench");
    std::fs::create_dir_all(&folder).map_err(|error| format!("making {}: {error}", folder.display()))?;
    let mut scripts = Vec::new();
    for (name, text, weight) in all(load.warehouses) {
        let path = folder.join(format!("{name}.sql"));
        std::fs::write(&path, text).map_err(|error| format!("writing {}: {error}", path.display()))?;
        scripts.push((path, weight));
    }
    Ok(Box::new(Pgbench { version, scripts }))
}

impl Peer for Pgbench {
    fn name(&self) -> &str {
        "pgbench, the same procedures, prepared"
    }

    fn version(&self) -> &str {
        &self.version
    }

    fn database(&self) -> &str {
        DATABASE
    }

    fn districts(&self, _kind: ServerKind) -> String {
        DISTRICTS.to_owned()
    }

    fn command(&self, server: &Server, load: Load) -> Command {
        let mut command = Command::new("pgbench");
        command.args(["--no-vacuum", "--protocol=prepared", "--username=proofload"]);
        command.arg(format!("--host={}", server.socket_folder())).arg(format!("--port={}", server.port));
        command.arg(format!("--client={}", load.users)).arg(format!("--jobs={}", load.threads()));
        command.arg(format!("--time={}", load.seconds));
        for (path, weight) in &self.scripts {
            command.arg(format!("--file={}@{weight}", path.display()));
        }
        command.arg(DATABASE).env("PGOPTIONS", "-c search_path=proofload -c timezone=UTC");
        command
    }

    fn completed(&self, ran: &Ran, load: Load) -> Option<Completed> {
        let count =
            ran.output.lines().find_map(|line| line.strip_prefix("number of transactions actually processed: "))?;
        Completed::within(load, count.split('/').next()?.trim().parse().ok()?)
    }
}

/// Every script with its name and weight: of 23 cards 10 New-Orders, a tenth of a card for each number of lines and so
/// on.
fn all(warehouses: u32) -> Vec<(String, String, u32)> {
    let mut scripts: Vec<(String, String, u32)> =
        (5..=15).map(|lines| (format!("new_order_{lines}"), new_order(warehouses, lines), 100)).collect();
    for (kind, text, weight) in [
        ("payment_by_id", payment(warehouses, false), 440),
        ("payment_by_name", payment(warehouses, true), 660),
        ("order_status_by_id", order_status(warehouses, false), 44),
        ("order_status_by_name", order_status(warehouses, true), 66),
        (
            "delivery",
            home(warehouses) + "\\set carrier random(1, 10)\nSELECT * FROM tprocc_delivery(:w, :carrier, now());\n",
            110,
        ),
        ("stock_level", stock_level(warehouses), 110),
    ] {
        scripts.push((kind.to_owned(), text, weight));
    }
    scripts
}

/// The home warehouse of a client.
fn home(warehouses: u32) -> String {
    format!("\\set w :client_id % {warehouses} + 1\n")
}

fn nurand(name: &str, a: u32, low: u32, high: u32, c: u32) -> String {
    let count = high - low + 1;
    format!("\\set {name} ((random(0, {a}) | random({low}, {high})) + {c}) % {count} + {low}\n")
}

/// Draws another warehouse in so many of a hundred cases.
fn supplier(name: &str, percent: u32, warehouses: u32) -> String {
    if warehouses == 1 {
        return format!("\\set {name} :w\n");
    }
    let last = warehouses - 1;
    format!(
        "\\set {name} case when random(1, 100) <= {percent} then (:w + random(0, {last} - 1)) % {warehouses} + 1 else :w end\n"
    )
}

fn new_order(warehouses: u32, lines: u32) -> String {
    let mut text = home(warehouses) + "\\set d random(1, 10)\n" + &nurand("c", 1023, 1, 3000, NURAND_C_ID);
    for line in 1..=lines {
        text += &nurand(&format!("i{line}"), 8191, 1, 100_000, NURAND_ITEM);
        text += &supplier(&format!("s{line}"), 1, warehouses);
        writeln!(text, "\\set q{line} random(1, 10)").expect("a string takes all text");
    }
    writeln!(text, "\\set i{lines} case when random(1, 100) = 1 then 100001 else :i{lines} end").expect("likewise");
    let list = |letter: char| (1..=lines).map(|line| format!(":{letter}{line}")).collect::<Vec<_>>().join(", ");
    let [items, suppliers, quantities] = ['i', 's', 'q'].map(|letter| format!("ARRAY[{}]::integer[]", list(letter)));
    let nulls = ["NULL"; 13].join(", ");
    writeln!(text, "CALL tprocc_new_order(:w, :d, :c, now(), {items}, {suppliers}, {quantities}, {nulls});")
        .expect("likewise");
    text
}

/// How a customer is named: number, name.
fn customer(by_name: bool) -> (String, String) {
    if !by_name {
        return (nurand("c", 1023, 1, 3000, NURAND_C_ID), ":c, NULL".to_owned());
    }
    let digits = "\\set n1 :n / 100 + 1\n\\set n2 :n / 10 % 10 + 1\n\\set n3 :n % 10 + 1\n";
    let name = format!("NULL, {SYLLABLES}[:n1] || {SYLLABLES}[:n2] || {SYLLABLES}[:n3]");
    (nurand("n", 255, 0, 999, NURAND_NAME) + digits, name)
}

fn payment(warehouses: u32, by_name: bool) -> String {
    let (draws, name) = customer(by_name);
    home(warehouses)
        + "\\set d random(1, 10)\n"
        + &supplier("cw", 15, warehouses)
        + "\\set cd case when :cw = :w then :d else random(1, 10) end\n\\set cents random(100, 500000)\n"
        + &draws
        + &format!("SELECT * FROM tprocc_payment(:w, :d, :cw, :cd, {name}, :cents::numeric / 100, now());\n")
}

fn order_status(warehouses: u32, by_name: bool) -> String {
    let (draws, name) = customer(by_name);
    home(warehouses)
        + "\\set d random(1, 10)\n"
        + &draws
        + &format!("SELECT * FROM tprocc_order_status(:w, :d, {name});\n")
}

fn stock_level(warehouses: u32) -> String {
    home(warehouses)
        + &format!("\\set d :client_id / {warehouses} % 10 + 1\n\\set threshold random(10, 20)\n")
        + "SELECT * FROM tprocc_stock_level(:w, :d, :threshold);\n"
}
