//! Checks of the T-SQL texts of `suites/` that no parser makes: variables declared and used, procedures called as they are declared, columns
//! that exist, semicolons where the language wants them. Read from the files, as they are sent. Wrong texts are the control.

mod check;
mod texts;

use check::{Schema, faults};
use std::path::Path;
use texts::{Text, texts};

/// What each text has wrong.
fn all(texts: &[Text], schema: &Schema) -> Vec<String> {
    texts.iter().flat_map(|text| faults(text, texts, schema)).collect()
}

#[test]
fn texts_of_orders_and_payments_hold_together() {
    for departures in ["none", "all"] {
        let found = texts("tprocc/sqlserver", departures == "all");
        let schema = Schema::of(&found);
        assert!(found.len() > 40 && schema.columns() == 92, "{} texts, {} columns", found.len(), schema.columns());
        assert_eq!(all(&found, &schema), [""; 0], "departures: {departures}");
    }
}

#[test]
fn texts_of_records_and_queries_hold_together() {
    for folder in ["ycsb/sqlserver", "ycsb/sqlserver-json", "warehouse/sqlserver"] {
        let found = texts(folder, false);
        let schema = Schema::of(&found);
        assert!(found.len() > 3, "{folder}");
        assert_eq!(all(&found, &schema), [""; 0], "{folder}");
    }
}

/// Transactions that meet are held by rows of the table itself, by which updates come, and are seen by a view that refuses who may not see them.
#[test]
fn meetings_hold_rows_by_which_updates_come() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../suites/tprocc/sqlserver");
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).expect("the file is readable");
    let (dialect, schema) = (read("dialect.toml"), read("schema.sql"));
    let word = |key: &str| {
        let begin = format!("{key} = \"");
        let found = dialect.lines().find_map(|line| line.strip_prefix(&begin)?.strip_suffix('"'));
        found.unwrap_or_else(|| panic!("the dialect does not say {key:?}"))
    };
    assert!(word("lock").contains("FROM {table} WITH (INDEX(1), UPDLOCK, ROWLOCK) WHERE {rows}"));
    assert_eq!(word("end"), "KILL {session}");
    for key in ["waiting", "first"] {
        assert!(word(key).contains("sys.dm_os_waiting_tasks") && word(key).contains("DB_ID()"), "{key}");
    }
    // The index of that number is the key in which a table lies, and there is one.
    for table in ["customer", "stock"] {
        let made = schema.split(&format!("CREATE TABLE {table} (")).nth(1).expect("there is such a table");
        assert!(made.split(");").next().expect("it ends").contains("PRIMARY KEY CLUSTERED"), "{table}");
    }
}

/// Orders that are counted under load are read at one moment: by row versions where they are on, else under a lock of the whole table.
#[test]
fn orders_are_counted_at_one_moment() {
    let found = texts("tprocc/sqlserver", false);
    let text = found.iter().find(|text| text.name == "new_orders").expect("orders are counted");
    let places = |words: &[&str]| (0..text.tokens.len()).filter(|place| text.has(*place, words)).collect::<Vec<_>>();
    let (with_versions, without) = (places(&["is_read_committed_snapshot_on", "=", "1"]), places(&["ELSE"]));
    let (reads, locks) = (places(&["FROM", "district"]), places(&["WITH", "(", "TABLOCK", ",", "HOLDLOCK", ")"]));
    assert_eq!([with_versions.len(), without.len(), reads.len(), locks.len()], [1, 1, 2, 1], "{:?}", text.tokens);
    let order = [with_versions[0], reads[0], without[0], reads[1], locks[0]];
    assert!(order.is_sorted() && locks[0] == reads[1] + 2, "{:?}", text.tokens);
}

/// Each wrong text, and what of it must be noticed.
const WRONG: &[(&str, &str)] = &[
    ("CREATE PROCEDURE p(@a int) AS BEGIN SELECT @b; SELECT @a; END", "@b is not declared"),
    ("CREATE PROCEDURE p(@a int) AS BEGIN DECLARE @b int, @c decimal(4,4); SELECT @a, @b; END", "@c is not used"),
    ("CREATE PROCEDURE p(@a int) AS BEGIN SELECT 1; END", "@a is not used"),
    ("CREATE PROCEDURE p(@a int) AS BEGIN SELECT @a THROW 50001, 'x', 1; END", "THROW is not behind"),
    (
        "CREATE PROCEDURE p(@a int) AS BEGIN SELECT @a WITH head AS (SELECT 1 AS x) DELETE FROM head; END",
        "WITH is not behind",
    ),
    ("EXEC pay :w_id", "1 parameters where pay declares 2"),
    ("EXEC pay :amount, :w_id", "amount stands where pay declares w_id"),
    ("EXEC absent :w_id", "absent is no procedure"),
    ("EXEC enter :w_id, /* table lines */ :items", "1 lists where lines has 3 columns"),
    ("EXEC enter :w_id, /* table rows */ :items, :counts", "a table rows stands where enter declares lines"),
    ("EXEC enter /* table lines */ :items, :counts", "a table lines stands where enter declares w_id"),
    ("EXEC enter :w_id, :items, :counts", "3 parameters where enter declares 2"),
    ("EXEC pay :w_id, /* table lines */ :items, :counts", "a table lines stands where pay declares amount"),
    ("INSERT INTO warehouse (w_id, w_nam) VALUES (1, 'x')", "warehouse has no column w_nam"),
    ("INSERT INTO warehouse (w_id, w_name) VALUES (1, 'x', 2)", "3 values for 2 columns"),
    ("INSERT INTO warehouse (w_id, w_name) SELECT 1, 'x', (2, 3)", "3 values for 2 columns"),
    ("INSERT INTO shop (w_id) VALUES (1)", "shop is no table"),
    ("UPDATE warehouse SET w_ytdd = w_ytd + 1 WHERE w_id = 1", "w_ytdd is no column"),
    ("SELECT w_id FROM warehouse LIMIT 10", "LIMIT is not of this language"),
    ("UPDATE warehouse SET w_ytd = 1 RETURNING w_id", "RETURNING is not of this language"),
    ("SELECT w_id::int FROM warehouse", ":: is not of this language"),
];

#[test]
fn wrong_texts_are_noticed() {
    let around = [
        Text::new(
            "schema",
            "CREATE TABLE warehouse (w_id int NOT NULL, w_name varchar(10) NOT NULL, w_ytd decimal(12, 2), PRIMARY KEY (w_id))",
        ),
        Text::new("pay", "CREATE PROCEDURE pay(@w_id int, @amount decimal(6,2)) AS BEGIN SELECT @w_id, @amount; END"),
        Text::new("call", "EXEC pay :w_id, :amount"),
        Text::new(
            "lines",
            "CREATE TYPE lines AS TABLE (number int NOT NULL, item int NOT NULL, count int NOT NULL, PRIMARY KEY CLUSTERED (number))",
        ),
        Text::new(
            "enter",
            "CREATE PROCEDURE enter(@w_id int, @lines lines READONLY) AS BEGIN SELECT item, @w_id FROM @lines; END",
        ),
        Text::new("call_enter", "EXEC enter :w_id, /* table lines */ :items, :counts"),
    ];
    let schema = Schema::of(&around);
    assert_eq!(all(&around, &schema), [""; 0]);
    for (sql, expected) in WRONG {
        let found = faults(&Text::new("wrong", sql), &around, &schema);
        assert!(found.iter().any(|fault| fault.contains(expected)), "{sql}: {found:?}");
    }
}
