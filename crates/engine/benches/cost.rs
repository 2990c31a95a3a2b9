//! What the engine layer costs: nanoseconds of a null flight, microseconds of a flight of each other engine, rows per second
//! of a bulk load. Run: `cargo bench -p proofload-engine`. Prints one line per figure; judges nothing.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

#[path = "../tests/support/mod.rs"]
mod support;

use proofload_engine::{
    AnySession, Column, ColumnKind, Control, Decimal, ENGINES, Flight, RowSource, Session, Statement, StatementId,
    Table, Value,
};
use std::time::Instant;
use support::{Place, Special};

fn main() {
    for engine in ENGINES.iter().filter(|engine| engine.facts().capabilities.sql) {
        let name = engine.facts().name;
        match Place::new(*engine, &[], &Special::default()) {
            Ok(place) => {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
                runtime.block_on(measure(&place));
            }
            Err(reason) => println!("{name}: left out: {reason}"),
        }
    }
}

async fn measure(place: &Place) {
    place.engine.create_database(&place.target).await.expect("creates the database");
    let mut session = place.connect().await;
    session.script(&create_sql(place.engine.facts().name)).await.expect("creates a table");
    let (started, cpu) = (Instant::now(), thread_cpu_ns());
    let rows = session.append(&LINES, &mut Lines { next: 0, end: 500_000 }).await.expect("appends");
    println!(
        "{}: append {:.0} rows/s of 10 columns, {:.0} per second of client CPU",
        place.engine.facts().name,
        rows as f64 / started.elapsed().as_secs_f64(),
        rows as f64 * 1e9 / (thread_cpu_ns() - cpu)
    );
    let select = Statement {
        name: "line".to_owned(),
        sql: "SELECT ol_i_id, ol_amount, ol_dist_info FROM order_line WHERE ol_o_id = :o AND ol_number = :n".to_owned(),
        parameters: vec!["o".to_owned(), "n".to_owned()],
        columns: 3,
    };
    session.prepare(&[select]).await.expect("prepares");
    for calls in [1, 20] {
        let flights = if place.engine.facts().name == "null" { 1_000_000 } else { 5_000 };
        let (nanos, cpu) = flights_cost(&mut session, flights, calls).await;
        let name = place.engine.facts().name;
        println!("{name}: {nanos:.0} ns, of which {cpu:.0} ns client CPU, per flight of begin, {calls} reads, commit");
    }
}

async fn flights_cost(session: &mut AnySession, flights: i64, calls: i64) -> (f64, f64) {
    let mut flight = Flight::new();
    let (started, cpu) = (Instant::now(), thread_cpu_ns());
    for index in 0..flights {
        flight.clear();
        flight.control(Control::BeginReadOnly);
        for call in 0..calls {
            flight.call(StatementId(0), &[Value::Integer((index * 37 + call) % 50_000), Value::Integer(call % 10)]);
        }
        flight.control(Control::Commit);
        session.fly(&mut flight).await.expect("flies");
        assert_eq!(flight.rows(1), 1);
    }
    let per_flight = |nanos: f64| nanos / flights as f64;
    (per_flight(started.elapsed().as_nanos() as f64), per_flight(thread_cpu_ns() - cpu))
}

/// Nanoseconds that this thread has run, user and system: the first field of its `schedstat`.
fn thread_cpu_ns() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux keeps it");
    text.split(' ').next().and_then(|field| field.parse().ok()).expect("a number")
}

fn create_sql(engine: &str) -> String {
    let (small, money, time, tail) = match engine {
        "postgresql" => ("smallint", "numeric(6,2)", "timestamptz", ")"),
        "duckdb" => ("smallint", "numeric(6,2)", "timestamp", ")"),
        "mariadb" => ("smallint", "numeric(6,2)", "datetime(6)", ")"),
        _ => ("INTEGER", "INTEGER", "INTEGER", ") STRICT, WITHOUT ROWID"),
    };
    format!(
        "CREATE TABLE order_line (ol_o_id integer, ol_d_id {small}, ol_w_id integer, ol_number {small}, ol_i_id integer, \
         ol_supply_w_id integer, ol_delivery_d {time}, ol_quantity {small}, ol_amount {money}, ol_dist_info text, \
         PRIMARY KEY (ol_o_id, ol_number){tail}"
    )
}

const fn integer(name: &'static str, bits: u8) -> Column<'static> {
    Column { name, kind: ColumnKind::Integer { bits } }
}

const LINES: Table = Table {
    name: "order_line",
    columns: &[
        integer("ol_o_id", 32),
        integer("ol_d_id", 16),
        integer("ol_w_id", 32),
        integer("ol_number", 16),
        integer("ol_i_id", 32),
        integer("ol_supply_w_id", 32),
        Column { name: "ol_delivery_d", kind: ColumnKind::Time },
        integer("ol_quantity", 16),
        Column { name: "ol_amount", kind: ColumnKind::Decimal { scale: 2 } },
        Column { name: "ol_dist_info", kind: ColumnKind::Text },
    ],
};

/// Rows shaped like order lines, ten to an order.
struct Lines {
    next: i64,
    end: i64,
}

impl RowSource for Lines {
    fn next(&mut self, sink: &mut dyn FnMut(&[Value<'_>])) -> bool {
        if self.next == self.end {
            return false;
        }
        let (order, line) = (self.next / 10, self.next % 10);
        self.next += 1;
        sink(&[
            Value::Integer(order),
            Value::Integer(1),
            Value::Integer(1),
            Value::Integer(line),
            Value::Integer(self.next % 100_000),
            Value::Integer(1),
            Value::Time(1_700_000_000_000_000),
            Value::Integer(5),
            Value::Decimal(Decimal { units: self.next % 999_999, scale: 2 }),
            Value::Text("abcdefghijklmnopqrstuvwx"),
        ]);
        true
    }
}
