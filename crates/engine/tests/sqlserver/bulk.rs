//! Rows in bulk: as the table has its columns, taken back whole when one does not fit.

use crate::places::{connect, runtime};
use crate::tds_server::{ColumnForm, Datum, Parameter, Part, Setup, TdsServer};
use proofload_engine::{Column, ColumnKind, Decimal, ErrorClass, RowSource, Session as _, Table, Value};

const TABLE: Table<'static> = Table {
    name: "bulk",
    columns: &[
        Column { name: "id", kind: ColumnKind::Integer { bits: 32 } },
        Column { name: "amount", kind: ColumnKind::Decimal { scale: 2 } },
        Column { name: "name", kind: ColumnKind::Text },
        Column { name: "day", kind: ColumnKind::Date },
        Column { name: "moment", kind: ColumnKind::Time },
    ],
};

fn kinds() -> Vec<ColumnForm> {
    vec![
        ColumnForm::Fixed(4),
        ColumnForm::Decimal(12, 2),
        ColumnForm::Text(20, true),
        ColumnForm::Date,
        ColumnForm::Moment(6),
    ]
}

/// Rows `0..end`; every seventh has nulls, and one has a name that is too long.
struct Rows {
    next: i64,
    end: i64,
    too_long: Option<i64>,
}

const DAY: i64 = 86_400_000_000;

impl RowSource for Rows {
    fn next(&mut self, sink: &mut dyn FnMut(&[Value<'_>])) -> bool {
        if self.next == self.end {
            return false;
        }
        let id = self.next;
        let name = if self.too_long == Some(id) { "x".repeat(21) } else { format!("row {id} ä") };
        if id % 7 == 0 && self.too_long != Some(id) {
            sink(&[Value::Integer(id), Value::Null, Value::Null, Value::Null, Value::Null]);
        } else {
            let amount = Value::Decimal(Decimal { units: id - 50, scale: 2 });
            sink(&[Value::Integer(id), amount, Value::Text(&name), Value::Time(id * DAY), Value::Time(id * 1_000_003)]);
        }
        self.next += 1;
        true
    }
}

/// Rows that come in the order of their key.
struct OrderedRows(Rows);

impl RowSource for OrderedRows {
    fn next(&mut self, sink: &mut dyn FnMut(&[Value<'_>])) -> bool {
        self.0.next(sink)
    }

    fn order(&self) -> &[&str] {
        &["id"]
    }

    fn expected(&self) -> Option<u64> {
        Some(10)
    }
}

/// Checks what arrives, and keeps the number of rows.
fn script(sql: &str, values: &[Parameter]) -> Vec<Part> {
    if sql.starts_with("SELECT TOP 0") {
        return vec![Part::Columns(kinds()), Part::Count(0)];
    }
    for row in values.chunks(5) {
        let Datum::Integer(id) = row[0].value else { panic!("{row:?}") };
        let moment = id * 1_000_003;
        let days = |micros: i64| 719_162 + (micros.div_euclid(DAY)) as u32;
        let expected = match id % 7 {
            0 => vec![Datum::Null; 4],
            _ => vec![
                Datum::Decimal((id - 50).into(), 2),
                Datum::Text(format!("row {id} ä")),
                Datum::Date(days(id * DAY)),
                Datum::Moment(days(moment), moment.rem_euclid(DAY) as u64),
            ],
        };
        assert_eq!(row[1..].iter().map(|one| one.value.clone()).collect::<Vec<_>>(), expected);
    }
    match sql {
        "rows" if values.len() == 5 * 3 => {
            vec![Part::Error {
                number: 2627,
                severity: 14,
                procedure: "",
                line: 1,
                message: "Violation of PRIMARY KEY.",
            }]
        }
        _ => Vec::new(),
    }
}

#[test]
fn rows_arrive_as_they_were_given_or_not_at_all() {
    let server = TdsServer::start(Setup::default(), script);
    runtime().block_on(async {
        let mut session = connect(&server).await;
        server.log();
        let rows = |end| Rows { next: 0, end, too_long: None };
        // How the table is kept is asked first; see the next test.
        let log = || server.log().into_iter().filter(|line| !line.contains("sys.indexes")).collect::<Vec<_>>();
        assert_eq!(session.append(&TABLE, &mut rows(20_000)).await.expect("appends"), 20_000);
        assert_eq!(log(), [
            "batch SELECT TOP 0 [id], [amount], [name], [day], [moment] FROM [bulk]",
            "batch BEGIN TRANSACTION",
            "batch INSERT BULK [bulk] ([id] int, [amount] decimal(12, 2), [name] varchar(20), [day] date, [moment] datetime2(6))",
            "20000 rows of id,amount,name,day,moment",
            "batch COMMIT TRANSACTION"
        ]);
        let error = session.append(&TABLE, &mut Rows { next: 0, end: 9_000, too_long: Some(8_000) }).await.expect_err("it does not fit");
        assert!(error.to_string().contains("append to bulk") && error.to_string().contains("column name"), "{error}");
        let log = log();
        assert_eq!(log[3..], ["8000 rows of id,amount,name,day,moment", "batch IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION"]);
        let error = session.append(&TABLE, &mut rows(3)).await.expect_err("a key is taken");
        assert_eq!(error.class(), ErrorClass::Data, "{error}");
        session.script("BEGIN").await.expect("begins");
        server.log();
        assert_eq!(session.append(&TABLE, &mut rows(10)).await.expect("appends"), 10);
        session.append(&TABLE, &mut Rows { next: 0, end: 9, too_long: Some(5) }).await.expect_err("it does not fit");
        session.script("COMMIT").await.expect("ends");
        let log = server.log();
        let control: Vec<&str> = log.iter().map(String::as_str).filter(|line| line.contains("TRANSACTION") || line.contains("COMMIT")).collect();
        let [save, undo] = ["batch SAVE TRANSACTION proofload_append", "batch IF XACT_STATE() = 1 ROLLBACK TRANSACTION proofload_append"];
        assert_eq!(control, [save, save, undo, "batch COMMIT"]);
    });
}

/// What rows are announced with to a table whose indexes are of these kinds, with the columns of their keys.
fn check_hints(indexes: &'static [(i64, &'static str)], expected: &str) {
    let server = TdsServer::start(Setup::default(), move |sql, values| {
        if !sql.contains("sys.indexes") {
            return script(sql, values);
        }
        let row = |(kind, column): &(i64, &str)| Part::Row(vec![Datum::Integer(*kind), Datum::text(column)]);
        let columns = Part::Columns(vec![ColumnForm::Integer(4), ColumnForm::Text(128, true)]);
        [columns].into_iter().chain(indexes.iter().map(row)).chain([Part::Count(indexes.len() as u64)]).collect()
    });
    runtime().block_on(async {
        let mut session = connect(&server).await;
        let mut rows = OrderedRows(Rows { next: 0, end: 10, too_long: None });
        assert_eq!(session.append(&TABLE, &mut rows).await.expect("appends"), 10);
    });
    let log = server.log();
    let announced = log.iter().find(|line| line.starts_with("batch INSERT BULK")).expect("rows are announced");
    assert!(announced.ends_with(&format!("[moment] datetime2(6)){expected}")), "{announced}");
}

/// Loaders of a heap lock it together; in a clustered key rows need no sorting where they come in its order.
#[test]
fn rows_are_announced_as_suits_the_table() {
    check_hints(&[(0, "")], " WITH (TABLOCK, ROWS_PER_BATCH = 10)");
    check_hints(&[(0, ""), (2, "name")], " WITH (ROWS_PER_BATCH = 10)");
    check_hints(&[(1, "id")], " WITH (ORDER ([id] ASC), ROWS_PER_BATCH = 10)");
    check_hints(&[(1, "id"), (1, "day")], " WITH (ROWS_PER_BATCH = 10)");
    check_hints(&[(5, "")], " WITH (ROWS_PER_BATCH = 10)");
}
