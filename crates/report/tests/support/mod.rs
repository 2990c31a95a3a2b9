//! A synthetic record: a memory sweep on a simulated machine whose curve is known. Made from a seed; no clock, no file.

mod attempt;
pub(crate) mod axe;
mod catalogue;
mod histograms;
mod key_value;
pub(crate) mod replicated;
mod study;
mod warehouse;

pub(crate) use key_value::{KeyValue, key_value};
pub(crate) use study::{Shape, judged_before, record, searched, shapes, slower, unsettled};
pub(crate) use warehouse::{Appliance, histogram, warehouse};

/// Lets the seconds of each window come in the order of their throughput, so that it rises; every sum is as it was.
pub(crate) fn let_rise(record: &mut proofload_record::Record) {
    for attempt in &mut record.attempts {
        let (from, to) = attempt.window().expect("it was measured");
        let inside = &mut attempt.intervals[from as usize..to as usize];
        inside.sort_by_key(|interval| interval.counts.iter().map(|counts| counts.done).sum::<u64>());
        (from..).zip(inside).for_each(|(index, interval)| interval.index = index);
    }
}
