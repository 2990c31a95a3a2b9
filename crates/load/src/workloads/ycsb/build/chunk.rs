//! Chunks of the data: ranges of records that are loaded and noted together.

use proofload_engine::DocumentBuffer;
use proofload_gen::ycsb::{Keys, Plan, Values};
use std::ops::Range;

/// Records of a chunk.
pub(crate) const CHUNK_RECORDS: u64 = 10_000;

/// The writer of values that the load writes.
const THE_LOAD: u64 = 0;

/// Number of chunks of this many records.
pub(crate) fn chunks(records: u64) -> u64 {
    records.div_ceil(CHUNK_RECORDS)
}

/// Gives the records of a chunk, batch by batch.
pub(super) struct RecordSource {
    keys: Keys,
    values: Values,
    fields: u16,
    rest: Range<u64>,
    batch: u64,
    key: String,
}

impl RecordSource {
    /// The records of chunk `number`.
    pub(super) fn new(plan: &Plan, number: u64, batch: usize) -> Self {
        let first = number * CHUNK_RECORDS;
        let end = (first + CHUNK_RECORDS).min(plan.settings().records);
        Self {
            keys: plan.keys(),
            values: plan.values(),
            fields: plan.settings().shape.fields,
            rest: first..end,
            batch: batch as u64,
            key: String::new(),
        }
    }

    /// Records that are still to come.
    pub(super) fn len(&self) -> u64 {
        self.rest.end - self.rest.start
    }

    /// Fills the buffer with the next batch; false when there is none.
    pub(super) fn next(&mut self, into: &mut DocumentBuffer) -> bool {
        let end = (self.rest.start + self.batch).min(self.rest.end);
        for record in self.rest.start..end {
            self.keys.write(record, &mut self.key);
            into.begin(&self.key);
            for field in 0..self.fields {
                let length = self.values.length(record, field, THE_LOAD) as usize;
                into.put_with(field, length, |space| self.values.fill(record, field, THE_LOAD, space));
            }
        }
        self.rest.start = end;
        !into.is_empty()
    }
}
