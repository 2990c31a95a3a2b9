//! mariadb-slap calling the procedures of our suite as text: what a client in C costs that sends statements from a file and drops the answers. It
//! has one file for all of its users and no clock, so calls are drawn before, as many as take about as long as the others run. Deliveries are
//! left out: what they meet of payments ends in a deadlock now and then, at which mariadb-slap ends.

use super::measure::Ran;
use super::ours::{DATABASE, DISTRICTS};
use super::peer::{Completed, Load, Peer, version};
use super::server::{Server, ServerKind};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::Command;

/// Calls a second that one user is given: those of a run of some 2,000 transactions a second by four.
const CALLS_PER_SECOND: u32 = 500;

/// Cards of a deck of 23 but its delivery: New-Orders and Payments; of the other two one is an Order-Status and one a Stock-Level.
const NEW_ORDERS: u64 = 10;
const PAYMENTS: u64 = 10;
const CARDS: u64 = 22;

const SYLLABLES: [&str; 10] = ["BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING"];

struct MariadbSlap {
    version: String,
    file: PathBuf,
    calls: u32,
}

pub(crate) fn find(server: &Server, load: Load) -> Result<Box<dyn Peer>, String> {
    let version = version("mariadb-slap", &["--version"])?;
    let file = server.folder.with_file_name("mariadb-slap.sql");
    let calls = load.seconds * CALLS_PER_SECOND;
    let mut draw = Draw(0x9E37_79B9_7F4A_7C15);
    let mut text = String::new();
    for _ in 0..calls {
        call(&mut text, &mut draw, load.warehouses.into());
    }
    std::fs::write(&file, text).map_err(|error| format!("writing {}: {error}", file.display()))?;
    Ok(Box::new(MariadbSlap { version, file, calls }))
}

impl Peer for MariadbSlap {
    fn name(&self) -> &str {
        "mariadb-slap, the same procedures as text, without deliveries"
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
        let mut command = Command::new("mariadb-slap");
        command.args(["--no-defaults", "--user=root", "--delimiter=;", "--iterations=1", "--no-drop"]);
        command.arg(format!("--socket={}", server.socket())).arg(format!("--create-schema={DATABASE}"));
        command.arg(format!("--concurrency={}", load.users)).arg(format!("--query={}", self.file.display()));
        command
    }

    /// It says how long all took: `Average number of seconds to run all queries: 12.345 seconds`.
    fn completed(&self, ran: &Ran, load: Load) -> Option<Completed> {
        let line = ran.output.lines().find(|line| line.contains("Average number of seconds to run all queries"))?;
        let seconds: f64 = line.split(':').nth(1)?.split_whitespace().next()?.parse().ok()?;
        let transactions = u64::from(self.calls) * u64::from(load.users);
        (seconds > 0.0).then(|| Completed { transactions, per_second: transactions as f64 / seconds })
    }
}

/// A small generator (xorshift, Marsaglia 2003).
struct Draw(u64);

impl Draw {
    /// A number between these, both included.
    fn between(&mut self, low: u64, high: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        low + (self.0 >> 11) % (high - low + 1)
    }

    /// NURand (clause 2.1.6) with any constant.
    fn skewed(&mut self, a: u64, low: u64, high: u64) -> u64 {
        ((self.between(0, a) | self.between(low, high)) + 259) % (high - low + 1) + low
    }
}

/// Appends one call. Homes are drawn, since all users have one file.
fn call(text: &mut String, draw: &mut Draw, warehouses: u64) {
    let (w, d) = (draw.between(1, warehouses), draw.between(1, 10));
    let card = draw.between(1, CARDS);
    let written = if card <= NEW_ORDERS {
        new_order(text, draw, (w, d, warehouses))
    } else if card <= NEW_ORDERS + PAYMENTS {
        let (customer, cents) = (customer(draw), draw.between(100, 500_000));
        write!(text, "CALL tprocc_payment({w}, {d}, {w}, {d}, {customer}, {cents} / 100, now(6));")
    } else if draw.between(0, 1) == 0 {
        let customer = customer(draw);
        write!(text, "CALL tprocc_order_status({w}, {d}, {customer});")
    } else {
        write!(text, "CALL tprocc_stock_level({w}, {d}, {});", draw.between(10, 20))
    };
    written.expect("a string takes all text");
}

fn new_order(text: &mut String, draw: &mut Draw, (w, d, warehouses): (u64, u64, u64)) -> std::fmt::Result {
    let customer = draw.skewed(1023, 1, 3000);
    let lines = draw.between(5, 15);
    let (mut items, mut suppliers, mut quantities) = (String::new(), String::new(), String::new());
    for line in 0..lines {
        let comma = if line == 0 { "" } else { "," };
        let is_unused = line + 1 == lines && draw.between(1, 100) == 1;
        let item = if is_unused { 100_001 } else { draw.skewed(8191, 1, 100_000) };
        let is_remote = draw.between(1, 100) == 1 && warehouses > 1;
        let supplier = if is_remote { (w + draw.between(0, warehouses - 2)) % warehouses + 1 } else { w };
        write!(items, "{comma}{item}")?;
        write!(suppliers, "{comma}{supplier}")?;
        write!(quantities, "{comma}{}", draw.between(1, 10))?;
    }
    write!(text, "CALL tprocc_new_order({w}, {d}, {customer}, now(6), '[{items}]', '[{suppliers}]', '[{quantities}]');")
}

/// How a customer is named: by number in four of ten, else by name (clause 2.5.1.2).
fn customer(draw: &mut Draw) -> String {
    if draw.between(1, 100) <= 40 {
        return format!("{}, NULL", draw.skewed(1023, 1, 3000));
    }
    let number = draw.skewed(255, 0, 999) as usize;
    let [first, second, third] = [number / 100, number / 10 % 10, number % 10].map(|digit| SYLLABLES[digit]);
    format!("NULL, '{first}{second}{third}'")
}
