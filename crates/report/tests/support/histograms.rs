//! Histograms as a record keeps them. One is kept for each bound, since making it costs more than filling it.

use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer, V2DeflateSerializer};
use proofload_model::samples::{HistogramDelta, LatencyClock};
use std::cell::RefCell;
use std::collections::BTreeMap;

thread_local! {
    static KEPT: RefCell<BTreeMap<u64, Histogram<u64>>> = const { RefCell::new(BTreeMap::new()) };
}

/// The histogram of these times, ns; the largest that it takes is `most`.
pub(super) fn histogram(
    kind: &str,
    clock: LatencyClock,
    most: u64,
    values: impl IntoIterator<Item = u64>,
) -> HistogramDelta {
    KEPT.with_borrow_mut(|kept| {
        let make = || Histogram::<u64>::new_with_bounds(1, most, 3).expect("the bounds are valid");
        let histogram = kept.entry(most).or_insert_with(make);
        histogram.reset();
        let mut sum_ns = 0;
        for value in values {
            histogram.record(value).expect("the value is within the bounds");
            sum_ns += value;
        }
        let mut payload = Vec::new();
        V2DeflateSerializer::new().serialize(histogram, &mut payload).expect("writing to memory cannot fail");
        HistogramDelta {
            kind: kind.to_owned(),
            clock,
            count: histogram.len(),
            sum_ns,
            max_ns: histogram.max(),
            payload,
        }
    })
}
