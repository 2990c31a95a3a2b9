//! Operations of one kind, each due at a fixed time whatever became of the others.

use super::hosts::{ProbeConnection, ProbeHosts};
use super::operation::{ProbeOperation, ProbeOutcome};
use super::pace::{PacedNumbers, ProbePace};
use super::pages::LedgerPages;
use super::pool::ProbePool;
use super::reads::ProbeRead;
use proofload_engine::{Error, ErrorClass, Flight, Session as _, StatementId, Value};
use proofload_model::drill::ProbeKind;
use proofload_model::time::{Clock, Moment};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// The write: one number.
pub(super) const WRITE: StatementId = StatementId(0);
/// The read: the largest numbers that are there.
pub(super) const READ: StatementId = StatementId(1);

/// A write is refused since the server is not the primary any more. Sources: PostgreSQL manual, appendix A; Microsoft's documentation,
/// "Database engine events and errors".
const READ_ONLY: &[&str] = &["25006", "3906"];

/// A number is there already. Sources: the same; MariaDB knowledge base, "MariaDB Error Codes".
const DUPLICATES: &[&str] = &["23505", "1062", "2627", "2601"];

/// Operations of one kind.
pub(super) struct ProbeStream {
    pub(super) kind: ProbeKind,
    /// Time between two operations at the full pace.
    pub(super) period: Duration,
    pub(super) pace: Rc<ProbePace>,
    pub(super) deadline: Duration,
    pub(super) hosts: Rc<ProbeHosts>,
    pub(super) pool: Rc<ProbePool>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) done: RefCell<Vec<ProbeOperation>>,
    /// What reads were answered.
    pub(super) reads: RefCell<Vec<ProbeRead>>,
    pub(super) pages: RefCell<LedgerPages>,
    pub(super) under_way: Cell<usize>,
}

impl ProbeStream {
    /// Begins each operation when it is due, until told to stop; then waits for those under way.
    pub(super) async fn run(self: Rc<Self>, origin: Moment, stop: Rc<Cell<bool>>) {
        let mut numbers = PacedNumbers::new(origin, self.period);
        while !stop.get() {
            let due = numbers.due();
            if !self.waits_until(due).await {
                numbers.hasten(self.clock.now());
                continue;
            }
            let now = self.clock.now();
            let (number, lag) = (numbers.take(&self.pace, now), now.since(due));
            if self.kind == ProbeKind::Write {
                self.pages.borrow_mut().begin(number);
            }
            self.under_way.set(self.under_way.get() + 1);
            tokio::task::spawn_local(Rc::clone(&self).carry_out(number, due, lag));
        }
        while self.under_way.get() > 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Waits until a time; false where the pace was hastened before.
    async fn waits_until(&self, due: Moment) -> bool {
        let left = due.since(self.clock.now());
        if left.is_zero() {
            return true;
        }
        if self.pace.is_calm() {
            return !self.pace.is_hastened_within(left).await;
        }
        tokio::time::sleep(left).await;
        true
    }

    async fn carry_out(self: Rc<Self>, number: u64, due: Moment, lag: Duration) {
        let mut operation = ProbeOperation {
            number,
            due,
            lag,
            sent: None,
            ended: due,
            outcome: ProbeOutcome::Failed,
            warned: false,
            is_duplicate: false,
            node: 0,
            connected: due,
        };
        match self.kind {
            ProbeKind::Connect => self.connect(&mut operation).await,
            ProbeKind::Write | ProbeKind::Read => self.ask(&mut operation).await,
        }
        self.pace.see(&operation);
        if self.kind == ProbeKind::Write {
            self.pages.borrow_mut().add(&operation);
        }
        self.done.borrow_mut().push(operation);
        self.under_way.set(self.under_way.get() - 1);
    }

    async fn connect(&self, operation: &mut ProbeOperation) {
        operation.sent = Some(self.clock.now());
        let dialled = tokio::time::timeout(self.deadline, self.hosts.reach(self.deadline)).await;
        operation.ended = self.clock.now();
        if let Ok(Ok(connection)) = dialled {
            operation.outcome = ProbeOutcome::Acknowledged;
            operation.node = connection.node;
        }
    }

    async fn ask(&self, operation: &mut ProbeOperation) {
        let until = operation.due + self.deadline;
        // Who gets a connection later has too little time left, and would give it up in vain.
        let taken = self.pool.take(operation.due + self.deadline / 2).await;
        operation.ended = self.clock.now();
        let Some(mut connection) = taken else { return };
        let sent = operation.ended;
        (operation.node, operation.connected, operation.sent) = (connection.node, connection.made, Some(sent));
        let left = until.since(sent);
        let answered = tokio::time::timeout(left, self.fly(&mut connection, operation.number)).await;
        operation.ended = self.clock.now();
        match answered {
            Ok(Ok(numbers)) => {
                operation.outcome = ProbeOutcome::Acknowledged;
                if self.kind == ProbeKind::Read {
                    let read = ProbeRead { node: connection.node, connected: connection.made, sent, numbers };
                    self.reads.borrow_mut().push(read);
                }
                operation.warned = connection.session.take_warning();
                self.pool.give_back(connection);
            }
            Ok(Err(error)) => {
                operation.outcome = outcome_of(&error);
                operation.is_duplicate = DUPLICATES.contains(&error.code());
                self.pool.forget(operation.node);
            }
            // Dropping the connection closes its socket: no request to cancel, which would end a wait for standbys early.
            Err(_late) => {
                operation.outcome = ProbeOutcome::Unknown;
                self.pool.forget(operation.node);
            }
        }
    }

    /// Writes the number, or reads the largest ones.
    async fn fly(&self, connection: &mut ProbeConnection, number: u64) -> Result<Vec<i64>, Error> {
        let mut flight = Flight::new();
        let number = Value::Integer(i64::try_from(number).unwrap_or(i64::MAX));
        let call = match self.kind {
            ProbeKind::Write => flight.call(WRITE, &[number]),
            ProbeKind::Read | ProbeKind::Connect => flight.call(READ, &[]),
        };
        connection.session.fly(&mut flight).await?;
        let rows = (0..flight.rows(call)).filter_map(|row| flight.row(call, row));
        Ok(rows.filter_map(|row| row.value(0).integer()).collect())
    }
}

/// What an error says of an operation that was sent: lost with its connection it may have been done, and so may one whose answer was not understood,
/// which is an error without a code of the server.
fn outcome_of(error: &Error) -> ProbeOutcome {
    let is_lost = error.class() == ErrorClass::ConnectionLost && !READ_ONLY.contains(&error.code());
    if is_lost || error.code().is_empty() { ProbeOutcome::Unknown } else { ProbeOutcome::Failed }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_server_refuses_by_a_code_has_failed_for_certain() {
        let check = |class: ErrorClass, code: &str, expected: ProbeOutcome| {
            assert_eq!(outcome_of(&Error::new(class, code, "an error")), expected, "{class:?} {code:?}");
        };
        check(ErrorClass::Other, "23505", ProbeOutcome::Failed);
        check(ErrorClass::ConnectionLost, "25006", ProbeOutcome::Failed);
        check(ErrorClass::ConnectionLost, "3906", ProbeOutcome::Failed);
        check(ErrorClass::ConnectionLost, "57P01", ProbeOutcome::Unknown);
        check(ErrorClass::ConnectionLost, "", ProbeOutcome::Unknown);
        // An answer that is not understood: the write may have been committed.
        check(ErrorClass::Data, "", ProbeOutcome::Unknown);
        check(ErrorClass::Other, "", ProbeOutcome::Unknown);
    }
}
