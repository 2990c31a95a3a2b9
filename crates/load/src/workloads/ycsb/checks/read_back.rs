//! Reads records back and compares every byte with what its writer wrote: a sample spread over the keyspace, or all
//! records.

use crate::workload::ProgressSink;
use crate::workloads::ycsb::store::{BlockingStore, StoreAccess};
use proofload_engine::{DocumentBuffer, Fields};
use proofload_gen::Seed;
use proofload_gen::ycsb::Plan;
use proofload_model::error::Error;
use proofload_model::step_count::{StepCount, StepUnit};
use std::sync::Mutex;

/// Records of a sample.
const SAMPLE: u64 = 1_000;

/// Offenders that are named.
const NAMED: usize = 10;

/// Records after which progress is reported.
const REPORT_EVERY: u64 = 10_000;

/// Result of reading records back.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ReadBack {
    /// Records compared.
    pub(crate) checked: u64,
    /// Records that are missing or wrong.
    pub(crate) wrong: u64,
    /// Faulty records, at most ten, each with its fault.
    pub(crate) offenders: Vec<String>,
}

impl ReadBack {
    fn add(&mut self, other: Self) {
        self.checked += other.checked;
        self.wrong += other.wrong;
        self.offenders.extend(other.offenders);
        self.offenders.truncate(NAMED);
    }
}

/// Reads back records below `records`: one of each of 1,000 equal parts, or all when the settings say so.
pub(crate) fn run(
    access: StoreAccess<'_>,
    plan: &Plan,
    records: u64,
    progress: &ProgressSink,
) -> Result<ReadBack, Error> {
    let count = if access.settings.verify_all { records } else { records.min(SAMPLE) };
    let sessions = u64::from(access.settings.verify_all) * (access.dialect.loaders as u64 - 1) + 1;
    let found = Mutex::new(Ok(ReadBack::default()));
    std::thread::scope(|scope| {
        for session in 0..sessions {
            let numbers = (session..count).step_by(sessions as usize);
            let found = &found;
            scope.spawn(move || {
                let part = read_part(access, plan, numbers, (count, records), progress);
                let Ok(mut found) = found.lock() else { return };
                match (found.as_mut(), part) {
                    (Ok(found), Ok(part)) => found.add(part),
                    (Ok(_), Err(error)) => *found = Err(error),
                    (Err(_), _) => {}
                }
            });
        }
    });
    found.into_inner().unwrap_or_else(|_| Err(Error::new("a session that read records back failed")))
}

/// One session's part.
fn read_part(
    access: StoreAccess<'_>,
    plan: &Plan,
    numbers: impl Iterator<Item = u64>,
    (count, records): (u64, u64),
    progress: &ProgressSink,
) -> Result<ReadBack, Error> {
    let mut session = BlockingStore::open_for_operations(access)?;
    let mut result = ReadBack::default();
    let mut checker = Checker::new(plan);
    for number in numbers {
        let record = place(plan, number, count, records);
        result.checked += 1;
        if let Some(fault) = checker.fault_of(&mut session, record)? {
            result.wrong += 1;
            result.offenders.push(fault);
            result.offenders.truncate(NAMED);
        }
        if number.is_multiple_of(REPORT_EVERY) {
            progress("reading records back", Some(StepCount::of(number, count, StepUnit::Records)));
        }
    }
    Ok(result)
}

/// The record of part `number` of `count` parts of the keyspace, drawn within its part.
fn place(plan: &Plan, number: u64, count: u64, records: u64) -> u64 {
    let bound = |part: u64| (u128::from(part) * u128::from(records) / u128::from(count.max(1))) as u64;
    let (first, end) = (bound(number), bound(number + 1));
    let draw = Seed(plan.settings().input_seed.0).of(number).0;
    first + draw % (end - first).max(1)
}

/// Reads one record after another with the same memory.
pub(super) struct Checker<'p> {
    plan: &'p Plan,
    key: String,
    found: DocumentBuffer,
}

impl<'p> Checker<'p> {
    pub(super) fn new(plan: &'p Plan) -> Self {
        Self { plan, key: String::new(), found: DocumentBuffer::new() }
    }

    /// Reads a record; gives its key and what was found.
    pub(super) fn read(&mut self, session: &mut BlockingStore, record: u64) -> Result<(&str, &DocumentBuffer), Error> {
        self.plan.keys().write(record, &mut self.key);
        self.found.clear();
        let Self { key, found, .. } = self;
        session.work(async |store| store.read(key, Fields::All, found).await)?;
        Ok((&self.key, &self.found))
    }

    /// The content of records.
    pub(super) fn values(&self) -> proofload_gen::ycsb::Values {
        self.plan.values()
    }

    /// The fault of a record; `None` when it has none.
    pub(super) fn fault_of(&mut self, session: &mut BlockingStore, record: u64) -> Result<Option<String>, Error> {
        self.read(session, record)?;
        let Some(found) = self.found.get(0) else { return Ok(Some(format!("{} is missing", self.key))) };
        let (wanted, count) = (self.plan.settings().shape.fields, found.values().count());
        if count != usize::from(wanted) {
            return Ok(Some(format!("{} has {count} fields of {wanted}", self.key)));
        }
        let values = self.plan.values();
        for (field, value) in found.values() {
            if let Err(fault) = values.check(record, field, value) {
                return Ok(Some(format!("{}, field {field}: {fault}", self.key)));
            }
        }
        Ok(None)
    }
}
