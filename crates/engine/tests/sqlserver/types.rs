//! Values of every type that is read, in both forms of rows; texts in both encodings of a database.

use crate::places::{connect, runtime, statement};
use crate::tds_server::{ColumnForm, Datum, Part, Setup, TdsServer};
use proofload_engine::{Decimal, Flight, OwnedValue, Session as _, StatementId, Value};

/// Days from 0001-01-01 to 1970-01-01.
const EPOCH: u32 = 719_162;

fn kinds() -> Vec<ColumnForm> {
    vec![
        ColumnForm::Fixed(4),
        ColumnForm::Integer(2),
        ColumnForm::Bit,
        ColumnForm::Decimal(38, 4),
        ColumnForm::Text(200, true),
        ColumnForm::Text(200, false),
        ColumnForm::Char(2),
        ColumnForm::Wide(100),
        ColumnForm::LongText,
        ColumnForm::Date,
        ColumnForm::Moment(6),
        ColumnForm::Moment(3),
    ]
}

fn row() -> Vec<Datum> {
    vec![
        Datum::Integer(-5),
        Datum::Integer(300),
        Datum::Integer(1),
        Datum::Decimal(-123_456, 4),
        Datum::text("äöü 漢"),
        Datum::text("Fräulein"),
        Datum::text("BC"),
        Datum::text("漢 🦀"),
        Datum::text("a text that comes in parts"),
        Datum::Date(EPOCH + 1),
        Datum::Moment(EPOCH - 1, 86_399_999_999),
        Datum::Moment(EPOCH, 1_500),
    ]
}

fn nulls() -> Vec<Datum> {
    let nulls = vec![Datum::Null; kinds().len() - 1];
    [Datum::Integer(0)].into_iter().chain(nulls).collect()
}

fn expected() -> Vec<OwnedValue> {
    let text = |text: &str| OwnedValue::Text(text.to_owned());
    vec![
        OwnedValue::Integer(-5),
        OwnedValue::Integer(300),
        OwnedValue::Integer(1),
        OwnedValue::Decimal(Decimal { units: -123_456, scale: 4 }),
        text("äöü 漢"),
        text("Fräulein"),
        text("BC"),
        text("漢 🦀"),
        text("a text that comes in parts"),
        OwnedValue::Time(86_400_000_000),
        OwnedValue::Time(-1),
        OwnedValue::Time(1_500_000),
    ]
}

fn script() -> Vec<Part> {
    vec![
        Part::Message("a word aside"),
        Part::Columns(kinds()),
        Part::Row(row()),
        Part::RowWithNulls(row()),
        Part::Row(nulls()),
        Part::RowWithNulls(nulls()),
        Part::Count(4),
    ]
}

#[test]
fn every_type_is_read_as_it_is_in_both_forms_of_rows() {
    let server = TdsServer::start(Setup::default(), |_, _| script());
    runtime().block_on(async {
        let mut session = connect(&server).await;
        let rows = session.query("SELECT everything").await.expect("reads");
        let mut empty = vec![OwnedValue::Null; kinds().len()];
        empty[0] = OwnedValue::Integer(0);
        assert_eq!(rows, [expected(), expected(), empty.clone(), empty]);
        let width = kinds().len() as u16;
        session.prepare(&[statement("all", "SELECT everything", &[], width)]).await.expect("prepares");
        let mut flight = Flight::new();
        flight.call(StatementId(0), &[]);
        session.fly(&mut flight).await.expect("flies");
        let row = flight.row(0, 1).expect("a row");
        let values: Vec<OwnedValue> = (0..kinds().len()).map(|column| row.value(column).into()).collect();
        assert_eq!(values, expected());
        assert_eq!((flight.rows(0), flight.answer(0).affected()), (4, 4));
        let error = session
            .prepare(&[statement("narrow", "SELECT everything", &[], 2)])
            .await
            .expect_err("it has more columns");
        assert!(error.to_string().contains("narrow: returns 12 columns where 2 are declared"), "{error}");
    });
}

#[test]
fn what_is_not_exact_is_refused_and_the_session_goes_on() {
    let mut answers = vec![
        vec![Part::Columns(vec![ColumnForm::Integer(4)]), Part::Row(vec![Datum::Integer(3)]), Part::Count(1)],
        vec![Part::Columns(vec![ColumnForm::Float]), Part::Row(vec![Datum::Integer(0)]), Part::Count(1)],
    ];
    let server = TdsServer::start(Setup::default(), move |_, _| answers.pop().expect("two queries"));
    runtime().block_on(async {
        let mut session = connect(&server).await;
        let error = session.query("SELECT 1.5e0").await.expect_err("it is no exact number").to_string();
        assert!(error.contains("column 1") && error.contains("cast it"), "{error}");
        assert_eq!(session.query("SELECT 3").await.expect("reads"), [[OwnedValue::Integer(3)]]);
    });
}

/// What the server decodes is what was given, under either encoding of its texts.
#[test]
fn parameters_arrive_as_they_were_given() {
    for utf8 in [true, false] {
        let server = TdsServer::start(Setup { utf8, ..Setup::default() }, |_, _| vec![Part::Count(1)]);
        let names = ["a", "b", "c", "d", "e", "f"];
        let long = "ä".repeat(9_000);
        runtime().block_on(async {
            let mut session = connect(&server).await;
            let sql = "INSERT INTO t VALUES (:a, :b, :c, :d, :e, :f)";
            session.prepare(&[statement("insert", sql, &names, 0)]).await.expect("prepares");
            let amount = Value::Decimal(Decimal { units: -199, scale: 2 });
            let values = [
                Value::Integer(i64::MIN),
                amount,
                Value::Text("it's :a ä"),
                Value::Text(&long),
                Value::Time(-1),
                Value::Integers(&[1, -2]),
            ];
            let mut flight = Flight::new();
            flight.call(StatementId(0), &values);
            flight.call(StatementId(0), &[Value::Null; 6]);
            session.fly(&mut flight).await.expect("flies");
        });
        let log = server.log();
        let kind = if utf8 { "@p3 varchar(8000), @p4 varchar(max)" } else { "@p3 nvarchar(4000), @p4 nvarchar(max)" };
        let kinds = format!("(@p1 bigint, @p2 decimal(19, 2), {kind}, @p5 datetime2(6), @p6 varbinary(8000))");
        assert!(log.iter().any(|line| line.starts_with("prepare") && line.contains(&kinds)), "{log:?}");
        let calls: Vec<&String> = log.iter().filter(|line| line.starts_with("call")).collect();
        let given = format!(
            "[Integer({}), Decimal(-199, 2), Text(\"it's :a ä\"), Text(\"{long}\"), Moment(719161, 86399999999), \
             Bytes([0, 0, 0, 1, 255, 255, 255, 254])]",
            i64::MIN
        );
        assert!(calls[0].ends_with(&given), "{}", calls[0]);
        assert!(calls[1].ends_with("[Null, Null, Null, Null, Null, Null]"), "{}", calls[1]);
    }
}

/// Lists that are the columns of a table arrive as its rows, numbered; the parameters before them as they are.
#[test]
fn lists_arrive_as_rows_of_a_table() {
    let server = TdsServer::start(Setup::default(), |_, _| vec![Part::Count(1)]);
    runtime().block_on(async {
        let mut session = connect(&server).await;
        let names = ["who", "items", "counts"];
        let sql = "EXEC enter :who, /* table dbo.lines */ :items, :counts";
        session.prepare(&[statement("enter", sql, &names, 0)]).await.expect("prepares");
        let mut flight = Flight::new();
        flight.call(StatementId(0), &[Value::Integer(7), Value::Integers(&[5, -6]), Value::Integers(&[1, i32::MAX])]);
        flight.call(StatementId(0), &[Value::Null, Value::Integers(&[]), Value::Integers(&[])]);
        session.fly(&mut flight).await.expect("flies");
        let wrong = [Value::Integers(&[1, 2]), Value::Null, Value::Integer(1)];
        for second in wrong {
            flight.clear();
            flight.call(StatementId(0), &[Value::Integer(7), Value::Integers(&[5]), second]);
            let error = session.fly(&mut flight).await.expect_err("the lists have no common length").to_string();
            assert!(error.contains("enter: list 2 of a table is"), "{error}");
        }
        // Nothing of the calls that could not be put together has left.
        flight.clear();
        flight.call(StatementId(0), &[Value::Integer(8), Value::Integers(&[5]), Value::Integers(&[1])]);
        session.fly(&mut flight).await.expect("flies");
    });
    let log = server.log();
    let calls: Vec<&str> =
        log.iter().map(String::as_str).filter(|line| line.starts_with("call") || line.starts_with("prepare")).collect();
    let max = i32::MAX;
    let rows = format!("[[Integer(1), Integer(5), Integer(1)], [Integer(2), Integer(-6), Integer({max})]]");
    assert_eq!(
        calls,
        [
            format!("call EXEC enter [Integer(7), Table(\"dbo.lines\", {rows})]").as_str(),
            "call EXEC enter [Null, Table(\"dbo.lines\", [])]",
            "call EXEC enter [Integer(8), Table(\"dbo.lines\", [[Integer(1), Integer(5), Integer(1)]])]",
        ]
    );
}

#[test]
fn a_table_of_too_many_lists_is_refused() {
    let server = TdsServer::start(Setup::default(), |_, _| vec![Part::Count(1)]);
    runtime().block_on(async {
        let mut session = connect(&server).await;
        let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i"];
        let sql = format!("EXEC enter /* table lines */ :{}", names.join(", :"));
        let error = session.prepare(&[statement("enter", &sql, &names, 0)]).await.expect_err("there are 9").to_string();
        assert!(error.contains("prepare enter: 9 lists as a table, where 8 are the most"), "{error}");
    });
}
