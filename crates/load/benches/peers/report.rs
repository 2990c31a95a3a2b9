//! The table of a comparison, and the same as one line of JSON for the history.

use super::Asked;
use super::measure::Measured;
use super::ratio::of_pairs;
use super::server::Server;

/// A client with what its rounds came to.
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) runs: Vec<Measured>,
}

/// One run in words.
pub(crate) fn line(run: &Measured) -> String {
    format!(
        "{} transactions, {:.1} % of them orders in the database, {:.0}/s, in {:.1} s; client {:.2} s of CPU to start, then {:.4} ms and server {:.3} ms each; at most {:.1} MB",
        run.transactions,
        run.new_orders as f64 / run.transactions as f64 * 100.0,
        run.per_second,
        run.seconds,
        run.start_s,
        run.client_ms,
        run.server_ms,
        run.memory_mb
    )
}

/// The median of a quantity over rounds.
fn median(runs: &[Measured], of: fn(&Measured) -> f64) -> f64 {
    let mut values: Vec<f64> = runs.iter().map(of).collect();
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len() % 2 == 1 { values[middle] } else { (values[middle - 1] + values[middle]) / 2.0 }
}

/// Prints both.
pub(crate) fn tell(asked: &Asked, server: &Server, clients: &[Row], left_out: &[String]) {
    let load = asked.load;
    let average = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    println!(
        "\n{} {}, {} warehouses, {} users, {} rounds of {} s, load average at the end {}",
        server.kind.product(),
        server.version,
        load.warehouses,
        load.users,
        asked.rounds,
        load.seconds,
        average.split_whitespace().take(3).collect::<Vec<_>>().join(" ")
    );
    println!(
        "medians; ratios: the first row over each, geometric mean of the rounds' pairs with its 95 % confidence interval\n"
    );
    println!(
        "| client | version | client CPU ms/txn | ratio | server CPU ms/txn | ratio | txn/s | ratio | MB | start, CPU s |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    let mut rows = Vec::new();
    for Row { name, version, runs } in clients {
        let first = &clients[0].runs;
        let ratio =
            |of: fn(&Measured) -> f64| of_pairs(first.iter().zip(runs).map(|(one, other)| (of(one), of(other))));
        let (client, server_cpu) = (ratio(|run| run.client_ms), ratio(|run| run.server_ms));
        let rate = ratio(|run| run.per_second);
        println!(
            "| {name} | {version} | {:.4} | {client} | {:.3} | {server_cpu} | {:.0} | {rate} | {:.1} | {:.2} |",
            median(runs, |run| run.client_ms),
            median(runs, |run| run.server_ms),
            median(runs, |run| run.per_second),
            median(runs, |run| run.memory_mb),
            median(runs, |run| run.start_s),
        );
        let list =
            |of: fn(&Measured) -> f64| runs.iter().map(|run| format!("{:.5}", of(run))).collect::<Vec<_>>().join(",");
        rows.push(format!(
            "{{\"client\":{},\"version\":{},\"client_cpu_ms\":[{}],\"server_cpu_ms\":[{}],\"transactions_s\":[{}],\"memory_mb\":[{}],\"start_cpu_s\":[{}]}}",
            quoted(name),
            quoted(version),
            list(|run| run.client_ms),
            list(|run| run.server_ms),
            list(|run| run.per_second),
            list(|run| run.memory_mb),
            list(|run| run.start_s),
        ));
    }
    let left_out: Vec<String> = left_out.iter().map(|line| quoted(line)).collect();
    println!(
        "\njson {{\"about\":\"OLTP clients on one server\",\"{}\":{},\"warehouses\":{},\"users\":{},\"rounds\":{},\"seconds\":{},\"load_average\":{},\"clients\":[{}],\"left_out\":[{}]}}",
        server.kind.engine(),
        quoted(&server.version),
        load.warehouses,
        load.users,
        asked.rounds,
        load.seconds,
        quoted(average.trim()),
        rows.join(","),
        left_out.join(",")
    );
}

/// A JSON text.
fn quoted(text: &str) -> String {
    let mut json = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => json.extend(['\\', letter]),
            letter if letter < ' ' => json.push_str(&format!("\\u{:04x}", u32::from(letter))),
            letter => json.push(letter),
        }
    }
    json.push('"');
    json
}
