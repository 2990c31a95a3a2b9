//! The list of checks, in their order: each needs what those before it left.

use super::bench::{Bench, SELECT};
use super::bulk::{self, BULK, BulkRows};
use super::expect::{equal, some};
use super::{settings, transactions, values};
use crate::contract::{Control, Error, Flight, Session as _, Value, Work};

/// What a check found where it found no fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckResult {
    /// The contract is kept.
    Kept,
    /// It was not looked, for this reason.
    Skipped(&'static str),
}

/// One check of the suite.
pub struct ContractCheck {
    /// Name, in words.
    pub name: &'static str,
    /// Looks; the error says what was not kept.
    pub look: for<'a> fn(&'a Bench<'a>) -> Work<'a, CheckResult>,
}

impl std::fmt::Debug for ContractCheck {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ContractCheck").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Every check of an engine with SQL sessions that keeps data, to be run in this order on an empty database.
pub const CHECKS: &[ContractCheck] = &[
    ContractCheck {
        name: "values are read back as they were written",
        look: |bench| Box::pin(values::round_trip(bench)),
    },
    ContractCheck {
        name: "a transaction that is rolled back changes nothing",
        look: |bench| Box::pin(transactions::rollback(bench)),
    },
    ContractCheck {
        name: "calls sent together change nothing after an error of one",
        look: |bench| Box::pin(transactions::error_in_a_flight(bench)),
    },
    ContractCheck {
        name: "of two transactions in a deadlock one is told to try again",
        look: |bench| Box::pin(transactions::conflict(bench)),
    },
    ContractCheck {
        name: "2,000 calls sent together are all answered",
        look: |bench| Box::pin(values::large_flight(bench)),
    },
    ContractCheck { name: "lists as parameters arrive as given", look: |bench| Box::pin(values::lists(bench)) },
    ContractCheck { name: "20,000 rows are loaded in bulk", look: |bench| Box::pin(bulk::append(bench)) },
    ContractCheck {
        name: "a bulk load that fails leaves no rows",
        look: |bench| Box::pin(bulk::append_is_atomic(bench)),
    },
    ContractCheck {
        name: "wrong statements are refused",
        look: |bench| Box::pin(transactions::wrong_statements(bench)),
    },
    ContractCheck { name: "settings are read back", look: |bench| Box::pin(settings::settings(bench)) },
    ContractCheck {
        name: "a database of Proofload is kept when it is opened again",
        look: |bench| Box::pin(settings::reopening(bench)),
    },
    ContractCheck {
        name: "a database that Proofload did not create is refused",
        look: |bench| Box::pin(settings::foreign_database(bench)),
    },
    ContractCheck { name: "the observer counts commits", look: |bench| Box::pin(settings::observer(bench)) },
];

impl Bench<'_> {
    /// What holds of an engine that keeps no data.
    ///
    /// # Errors
    /// It does not hold.
    pub async fn without_data(&self) -> Result<(), Error> {
        let mut session = self.prepared().await?;
        let mut flight = Flight::new();
        flight.control(Control::Begin);
        let call = flight.call(SELECT, &[Value::Integer(1)]);
        session.fly(&mut flight).await?;
        let row = some("one row", flight.row(call, 0))?;
        equal("an answer", [0, 1, 2, 3, 4].map(|column| row.value(column)), [Value::Integer(1); 5])?;
        equal("rows", (flight.rows(call), flight.answer(call).affected()), (1, 1))?;
        equal("rows appended", session.append(&BULK, &mut BulkRows { next: 0, end: 12 }).await?, 12)?;
        equal("rows of a query", session.query("anything").await?.len(), 0)
    }
}
