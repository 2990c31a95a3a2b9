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

use proofload_model::deployment::InstanceName;
use proofload_model::series::SeriesName;
use proofload_record::{Attempt, Record};
use proofload_report::{Format, render};
use serde_json::Value as Json;

/// Lets the seconds of each window come in about the order of their throughput, so that it rises; every sum is as it was.
pub(crate) fn let_rise(record: &mut Record) {
    for attempt in &mut record.attempts {
        let (from, to) = attempt.window().expect("it was measured");
        let inside = &mut attempt.intervals[from as usize..to as usize];
        inside.sort_by_key(|interval| interval.counts.iter().map(|counts| counts.done).sum::<u64>());
        // In order alone they are a line bent at both ends, which in 30 s cannot be told from noise with a memory.
        inside.chunks_exact_mut(5).for_each(|five| {
            five.swap(0, 3);
            five.swap(1, 4);
        });
        (from..).zip(inside).for_each(|(index, interval)| interval.index = index);
    }
}

/// Adds a series of the primary that has the seconds of the cores' series.
pub(crate) fn observe(attempt: &mut Attempt, wanted: SeriesName, component: &str, value: impl Fn(usize) -> f64) {
    replicated::observe(attempt, &InstanceName::primary(), wanted, component, value);
}

/// The report of a record as JSON.
pub(crate) fn json_of(record: &Record) -> Json {
    serde_json::from_str(&render(record, Format::Json).expect("the record has points")).expect("JSON is JSON")
}
