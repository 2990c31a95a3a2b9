//! HDR histograms of latency in nanoseconds, sized so that many threads can have their own.

use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};
use proofload_model::error::Error;
use proofload_model::samples::{HistogramDelta, LatencyClock};

/// Smallest difference that is resolved, nanoseconds. With three digits, values from 33 µs up are good to 0.1 %,
/// smaller ones to 32 ns. A finer grain would cost every thread and kind another 4 KiB per halving.
const GRAIN_NS: u64 = 32;

/// Largest value that needs no growth; a larger one grows its histogram once, in the order of microseconds.
const READY_UP_TO_NS: u64 = 1_000_000_000;

/// Largest value that is resolved.
const HOUR_NS: u64 = 3_600_000_000_000;

/// Significant digits.
const DIGITS: u8 = 3;

/// An empty histogram of the one configuration that all threads and agents share.
pub fn new_histogram() -> Histogram<u32> {
    let mut histogram =
        Histogram::new_with_bounds(GRAIN_NS, READY_UP_TO_NS, DIGITS).expect("the bounds are constants that fit");
    histogram.auto(true);
    histogram
}

/// A histogram with the exact sum and maximum of its values. Takes no memory before its first value.
#[derive(Debug, Clone, Default)]
pub struct Latencies {
    histogram: Option<Histogram<u32>>,
    sum_ns: u64,
    max_ns: u64,
}

impl Latencies {
    /// Counts one value; beyond an hour the bucket, not the maximum, saturates.
    pub fn record(&mut self, nanos: u64) {
        let histogram = self.histogram.get_or_insert_with(new_histogram);
        histogram.record(nanos.min(HOUR_NS)).expect("the histogram grows");
        self.sum_ns = self.sum_ns.saturating_add(nanos);
        self.max_ns = self.max_ns.max(nanos);
    }

    /// The histogram, when it has values.
    fn filled(&self) -> Option<&Histogram<u32>> {
        self.histogram.as_ref().filter(|histogram| !histogram.is_empty())
    }

    /// Moves all counts into `target` and forgets them.
    pub fn drain_into(&mut self, target: &mut Self) {
        let Some(histogram) = self.histogram.as_mut().filter(|histogram| !histogram.is_empty()) else { return };
        target.histogram.get_or_insert_with(new_histogram).add(&*histogram).expect("the target grows");
        target.sum_ns = target.sum_ns.saturating_add(self.sum_ns);
        target.max_ns = target.max_ns.max(self.max_ns);
        histogram.reset();
        self.sum_ns = 0;
        self.max_ns = 0;
    }

    /// Adds the decoded histogram of an agent.
    pub(super) fn add(&mut self, histogram: &Histogram<u32>, sent: &HistogramDelta) {
        self.histogram.get_or_insert_with(new_histogram).add(histogram).expect("the target grows");
        self.sum_ns = self.sum_ns.saturating_add(sent.sum_ns);
        self.max_ns = self.max_ns.max(sent.max_ns);
    }

    /// The histogram as agents send it; `None` when nothing was counted.
    pub fn to_delta(&self, kind: &str, clock: LatencyClock) -> Option<HistogramDelta> {
        let histogram = self.filled()?;
        let mut payload = Vec::new();
        V2DeflateSerializer::new().serialize(histogram, &mut payload).expect("writing to memory does not fail");
        Some(HistogramDelta {
            kind: kind.to_owned(),
            clock,
            count: histogram.len(),
            sum_ns: self.sum_ns,
            max_ns: self.max_ns,
            payload,
        })
    }

    /// Value at a quantile, nanoseconds.
    pub fn quantile(&self, quantile: f64) -> Option<u64> {
        self.filled().map(|histogram| histogram.value_at_quantile(quantile))
    }
}

/// Decoder of histograms as agents send them. Keeps its memory from one to the next.
#[derive(Default)]
pub(super) struct V2Reader {
    deserializer: Deserializer,
    read: Option<Histogram<u32>>,
}

impl V2Reader {
    /// Decodes one histogram. An error when it is damaged, of another configuration, or does not hold the count that it
    /// claims.
    pub(super) fn read(&mut self, sent: &HistogramDelta) -> Result<&Histogram<u32>, Error> {
        let wrong = |why: String| {
            let of = if sent.kind.is_empty() { sent.clock.word() } else { &sent.kind };
            Error::new(format!("its histogram of {of} is damaged: {why}"))
        };
        let read = self.deserializer.deserialize(&mut sent.payload.as_slice());
        let read: Histogram<u32> = read.map_err(|error| wrong(error.to_string()))?;
        if (read.low(), read.sigfig()) != (GRAIN_NS, DIGITS) {
            return Err(wrong(format!("grain {} ns, {} digits", read.low(), read.sigfig())));
        }
        if read.len() != sent.count {
            return Err(wrong(format!("{} values, but {} were announced", read.len(), sent.count)));
        }
        Ok(self.read.insert(read))
    }
}
