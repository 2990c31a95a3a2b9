//! One virtual user: draws operations by their index, runs them on its store, checks what it reads.

use super::connection::UserConnection;
use super::tally::{AcknowledgedWrite, Tally};
use super::watermark::WatermarkUser;
use super::workload_run::YcsbRun;
use crate::drive::{UserWait, VirtualUser};
use crate::operation::Completion;
use proofload_engine::{DocumentBuffer, Error, ErrorClass, Fields};
use proofload_gen::ycsb::{Keys, Keyspace, Kind, Operation, Plan, Values};
use proofload_model::samples::Reading;
use std::sync::Arc;

/// Kinds of operations, in the order of [`Kind`]'s numbers.
pub(super) const KINDS: &[&str] = &["read", "update", "insert", "scan", "read_modify_write"];

/// A virtual user.
pub(super) struct User {
    workload_run: Arc<YcsbRun>,
    connection: UserConnection,
    wait: UserWait,
    plan: Arc<Plan>,
    keys: Keys,
    values: Values,
    keyspace: Keyspace,
    /// `None` when the keyspace does not grow.
    progress: Option<WatermarkUser>,
    read_checks: ReadChecks,
    /// Index of the next operation.
    next: u64,
    users: u64,
    operation: Operation,
    index: u64,
    key: String,
    /// The record that the operation writes.
    record: DocumentBuffer,
    found: DocumentBuffer,
    /// Counts of what was done.
    pub(super) tally: Tally,
}

/// Rule for comparing reads with what was written.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReadChecks {
    /// Whether the engine keeps data.
    pub(super) keeps_data: bool,
    /// Interval of compared reads: every n-th; 0 for no read.
    pub(super) every: u32,
}

/// Number of a user among all, and its share of memory.
#[derive(Debug, Clone, Copy)]
pub(super) struct UserNumbers {
    pub(super) user: u32,
    pub(super) users: u32,
    /// Room for acknowledged writes.
    pub(super) room: usize,
}

impl User {
    /// A user whose store is ready for operations.
    pub(super) fn new(
        (workload_run, connection): (Arc<YcsbRun>, UserConnection),
        (plan, wait): (Arc<Plan>, UserWait),
        progress: Option<WatermarkUser>,
        numbers: UserNumbers,
        read_checks: ReadChecks,
    ) -> Self {
        let keyspace = plan.keyspace();
        Self {
            keys: plan.keys(),
            values: plan.values(),
            operation: plan.operation(u64::from(numbers.user), &keyspace),
            keyspace,
            progress,
            read_checks,
            next: numbers.user.into(),
            users: numbers.users.max(1).into(),
            index: 0,
            key: String::with_capacity(Keys::MOST_CHARACTERS + 1),
            record: DocumentBuffer::new(),
            found: DocumentBuffer::new(),
            tally: Tally::new(numbers.room),
            workload_run,
            connection,
            wait,
            plan,
        }
    }

    /// Draws the values that the operation writes.
    fn draw_values(&mut self) {
        let Self { record, values, operation, index, key, .. } = self;
        record.clear();
        let fields = match operation.kind {
            Kind::Read | Kind::Scan => return,
            Kind::Insert => 0..self.plan.settings().shape.fields,
            Kind::Update | Kind::ReadModifyWrite => match operation.field {
                Some(field) => field..field + 1,
                None => 0..self.plan.settings().shape.fields,
            },
        };
        let (number, writer) = (operation.record, *index + 1);
        record.begin(key);
        for field in fields {
            let length = values.length(number, field, writer) as usize;
            record.put_with(field, length, |space| values.fill(number, field, writer, space));
        }
    }

    async fn operate(&mut self) -> Result<Completion, Error> {
        match self.operation.kind {
            Kind::Read => self.read(self.operation.field).await?,
            Kind::Update => self.write().await?,
            Kind::Insert => self.insert().await?,
            Kind::Scan => self.scan().await?,
            Kind::ReadModifyWrite => {
                self.read(self.operation.read_field).await?;
                self.write().await?;
            }
        }
        Ok(Completion::Done)
    }

    async fn read(&mut self, field: Option<u16>) -> Result<(), Error> {
        self.found.clear();
        self.connection.store()?.read(&self.key, fields(field), &mut self.found).await?;
        if self.found.is_empty() {
            return Err(not_found(&self.key));
        }
        self.look_at_first(field)
    }

    async fn scan(&mut self) -> Result<(), Error> {
        let Operation { field, scan_length, .. } = self.operation;
        self.found.clear();
        self.connection.store()?.scan(&self.key, scan_length, fields(field), &mut self.found).await?;
        let first = self.found.get(0).map(|record| record.key() == self.key);
        if self.read_checks.keeps_data && first != Some(true) {
            return Err(not_found(&self.key));
        }
        if self.found.len() > scan_length as usize {
            return Err(wrong(format!("a scan of {scan_length} records returned {}", self.found.len())));
        }
        if self.read_checks.every != 0 && !self.found.iter().is_sorted_by(|one, next| one.key() < next.key()) {
            return Err(wrong("a scan returned records out of key order".to_owned()));
        }
        self.look_at_first(field)
    }

    /// Counts what was read, and compares the first record's values now and then.
    fn look_at_first(&mut self, field: Option<u16>) -> Result<(), Error> {
        let bytes: usize = self.found.iter().flat_map(|record| record.values()).map(|(_, value)| value.len()).sum();
        self.tally.has_read(bytes as u64);
        let ReadChecks { keeps_data, every } = self.read_checks;
        let turn = self.index / self.users;
        if !keeps_data || every == 0 || !turn.is_multiple_of(every.into()) {
            return Ok(());
        }
        self.tally.reads_checked += 1;
        let Some(found) = self.found.get(0) else { return Ok(()) };
        let wanted = field.map_or(self.plan.settings().shape.fields, |_| 1);
        if found.values().count() != usize::from(wanted) {
            let count = found.values().count();
            return Err(wrong(format!("record {} has {count} fields, but {wanted} were requested", self.key)));
        }
        for (field, value) in found.values() {
            if let Err(fault) = self.values.check(self.operation.record, field, value) {
                return Err(wrong(format!("record {}, field {field}: {fault}", self.key)));
            }
        }
        Ok(())
    }

    async fn write(&mut self) -> Result<(), Error> {
        let Some(record) = self.record.get(0) else { return Err(wrong("an update without values".to_owned())) };
        let store = self.connection.store()?;
        let hold = self.workload_run.live().hold();
        let matched = match hold {
            None => store.update(record).await?,
            Some(_) => store.begin_update(record).await?,
        };
        if matched == 0 && self.read_checks.keeps_data {
            return Err(not_found(&self.key));
        }
        if let Some(time) = hold {
            self.wait.pass(time).await;
            store.commit().await?;
        }
        self.acknowledged();
        Ok(())
    }

    async fn insert(&mut self) -> Result<(), Error> {
        self.connection.store()?.insert(&self.record).await?;
        self.acknowledged();
        Ok(())
    }

    /// The write of this operation was acknowledged.
    fn acknowledged(&mut self) {
        let bytes: usize = self.record.iter().flat_map(|record| record.values()).map(|(_, value)| value.len()).sum();
        self.tally.wrote(bytes as u64);
        let Operation { record, field, .. } = self.operation;
        self.tally.acknowledge(AcknowledgedWrite { record, field, index: self.index });
    }
}

impl VirtualUser for User {
    fn draw(&mut self) -> usize {
        self.index = self.next;
        self.next += self.users;
        if let Some(ended) = self.progress.as_mut().and_then(|progress| progress.advance(self.index)) {
            self.keyspace.set(self.plan.readable_after(ended));
        }
        self.operation = self.plan.operation(self.index, &self.keyspace);
        if self.operation.kind != Kind::Insert {
            self.operation.record = self.workload_run.live().record(self.operation.record);
        }
        self.keys.write(self.operation.record, &mut self.key);
        self.draw_values();
        self.operation.kind as usize
    }

    async fn run(&mut self) -> Result<Completion, Error> {
        self.connection.take(&self.wait).await?;
        let completion = self.operate().await?;
        self.connection.give_back(&self.wait);
        Ok(completion)
    }

    fn lost(&mut self) {
        self.tally.unknown_inserts += u64::from(self.operation.kind == Kind::Insert);
    }

    async fn recover(&mut self) -> Result<(), Error> {
        self.connection.recover(&self.wait).await
    }

    async fn reconnect(&mut self) -> Result<(), Error> {
        // Who waited for a connection of the pool has lost none.
        if self.connection.is_held() {
            let store = self.workload_run.store().await.map_err(|error| Error::other(error.to_string()))?;
            self.connection.replace(store, &self.wait);
        }
        Ok(())
    }

    fn counters(&mut self, into: &mut Vec<Reading>) {
        self.tally.readings(into);
        if let Ok(store) = self.connection.store() {
            store.counters(into);
        }
    }
}

fn fields(field: Option<u16>) -> Fields {
    field.map_or(Fields::All, Fields::One)
}

#[cold]
fn not_found(key: &str) -> Error {
    Error::new(ErrorClass::Other, "not_found", format!("record {key} was not found"))
}

#[cold]
fn wrong(text: String) -> Error {
    Error::new(ErrorClass::Other, "wrong_value", text)
}
