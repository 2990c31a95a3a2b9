//! Watches a peer's database from beside the load: when its first order is there, and how many transactions the
//! database has ended.

use super::server::{Server, ServerKind};
use proofload_engine::{AnySession, OwnedValue, Session as _, Target, engine};

/// A session that looks.
pub(crate) struct Watch {
    runtime: tokio::runtime::Runtime,
    session: AnySession,
    kind: ServerKind,
    database: String,
    orders: String,
    /// Its own queries so far: each is a transaction of the database too.
    queries: i64,
}

impl Watch {
    /// Connects to a database; `districts` is the table there whose `d_next_o_id` every New-Order raises.
    pub(crate) fn open(server: &Server, database: &str, districts: &str) -> Result<Self, String> {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| error.to_string())?;
        let target = Target::new(server.place.target.place.clone(), Some(server.address(database)));
        let integer = if server.kind == ServerKind::PostgreSql { "bigint" } else { "signed" };
        let orders = format!("SELECT CAST(sum(d_next_o_id) AS {integer}) FROM {districts}");
        let known = engine(server.kind.engine()).expect("it is registered");
        let session = runtime.block_on(known.connect(&target)).map_err(|error| error.to_string())?;
        Ok(Self { runtime, session, kind: server.kind, database: database.to_owned(), orders, queries: 0 })
    }

    /// The next order numbers of all districts, summed.
    pub(crate) fn orders(&mut self) -> Result<i64, String> {
        let sql = self.orders.clone();
        self.number(&sql)
    }

    /// Transactions that the database has ended, committed or rolled back, its own left out. The server counts those of
    /// a session when it has ended, or a second later.
    pub(crate) fn transactions(&mut self) -> Result<i64, String> {
        let own = self.queries;
        match self.kind {
            ServerKind::PostgreSql => {
                let sql = format!(
                    "SELECT (xact_commit + xact_rollback)::bigint FROM pg_stat_database WHERE datname = '{}'",
                    self.database
                );
                Ok(self.number(&sql)? - own)
            }
            // Of the whole server, which has one client at a time; a query without a transaction is none.
            ServerKind::MariaDb => self.number(
                "SELECT CAST(sum(variable_value) AS signed) FROM information_schema.global_status \
                 WHERE variable_name IN ('COM_COMMIT', 'COM_ROLLBACK')",
            ),
        }
    }

    fn number(&mut self, sql: &str) -> Result<i64, String> {
        self.queries += 1;
        let rows = self.runtime.block_on(self.session.query(sql)).map_err(|error| error.to_string())?;
        match rows.first().and_then(|row| row.first()) {
            Some(OwnedValue::Integer(number)) => Ok(*number),
            other => Err(format!("{sql} answered {other:?} instead of a number")),
        }
    }
}
