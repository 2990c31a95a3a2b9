//! More rows than a runtime gives a task of turns, over an encrypted connection.

use proofload_engine::{Column, ColumnKind, Engine, RowSource, Session as _, Table, Target, Value};
use std::time::Duration;

/// Bytes of one row and rows of all: some 200 packets, each of which is polled for several times.
const TEXT: &str =
    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";
const ROWS: u64 = 120_000;

struct Rows(u64);

impl RowSource for Rows {
    fn next(&mut self, sink: &mut dyn FnMut(&[Value<'_>])) -> bool {
        let Some(left) = self.0.checked_sub(1) else { return false };
        self.0 = left;
        sink(&[Value::Text(TEXT)]);
        true
    }
}

/// Rows that a server takes as fast as they come go on, though no wait ends a turn of the runtime.
pub(crate) fn check(engine: &'static dyn Engine, target: Target) {
    let (sender, sent) = std::sync::mpsc::channel();
    // A thread of its own, since what goes on for ever lets no timer of its runtime end it.
    std::thread::spawn(move || {
        let columns = [Column { name: "t", kind: ColumnKind::Text }];
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let count = runtime.block_on(async {
            let mut session = engine.connect(&target).await.expect("connects");
            session.script("CREATE TEMPORARY TABLE much (t varchar(100))").await.expect("creates a table");
            session.append(&Table { name: "much", columns: &columns }, &mut Rows(ROWS)).await.expect("they are taken")
        });
        sender.send(count)
    });
    assert_eq!(sent.recv_timeout(Duration::from_secs(120)).expect("the rows are sent"), ROWS);
}
