//! Sums over client threads and load agents of what a second has besides its counts.

use super::histograms::Latencies;
use proofload_model::samples::{
    ClientSelf, ErrorCount, HistogramDelta, LatencyClock, OfferedLoad, OperationCounts, Reading,
};

/// Merged latencies by kind and clock.
#[derive(Default)]
pub(super) struct MergedKinds(Vec<(String, LatencyClock, Latencies)>);

impl MergedKinds {
    /// The latencies of a kind by a clock.
    pub(super) fn of(&mut self, kind: &str, clock: LatencyClock) -> &mut Latencies {
        let place = self.0.iter().position(|(known, by, _)| known == kind && *by == clock).unwrap_or_else(|| {
            self.0.push((kind.to_owned(), clock, Latencies::default()));
            self.0.len() - 1
        });
        &mut self.0[place].2
    }

    /// Send lag at p99; `None` when there was none.
    pub(super) fn send_lag_ns_p99(&self) -> Option<u64> {
        let (_, _, lag) = self.0.iter().find(|(_, clock, _)| *clock == LatencyClock::SendLag)?;
        lag.quantile(0.99)
    }

    /// The histograms in an agent's order: by kind, send lag last.
    pub(super) fn into_deltas(mut self, counts: &[OperationCounts]) -> Vec<HistogramDelta> {
        let place = |kind: &str| counts.iter().position(|counts| counts.kind == kind).unwrap_or(usize::MAX);
        self.0.sort_by_key(|(kind, clock, _)| (place(kind), *clock));
        self.0.iter().filter_map(|(kind, clock, latencies)| latencies.to_delta(kind, *clock)).collect()
    }
}

/// Adds errors by kind and code; the first text stays.
pub(super) fn add_errors(into: &mut Vec<ErrorCount>, more: impl IntoIterator<Item = ErrorCount>) {
    for error in more {
        match into.iter_mut().find(|known| known.kind == error.kind && known.code == error.code) {
            Some(known) => known.count += error.count,
            None => into.push(error),
        }
    }
}

/// Adds readings by name and instance.
pub(super) fn add_readings(into: &mut Vec<Reading>, more: impl IntoIterator<Item = Reading>) {
    for reading in more {
        match into.iter_mut().find(|known| known.name == reading.name && known.component == reading.component) {
            Some(known) => known.value += reading.value,
            None => into.push(reading),
        }
    }
}

/// Appends the threads of a further load generator. Offered load is summed only when every agent reports it; a
/// second in which one stood still is a second of the longest such time. `first`:
/// `into` is still empty.
pub(super) fn add_client(into: &mut ClientSelf, more: &ClientSelf, first: bool) {
    into.thread_cpu_ns.extend(&more.thread_cpu_ns);
    into.resident_bytes += more.resident_bytes;
    into.paused_ns = into.paused_ns.max(more.paused_ns);
    into.offered = match (into.offered, more.offered) {
        (_, offered) if first => offered,
        (Some(sum), Some(more)) => Some(OfferedLoad { due: sum.due + more.due, waiting: sum.waiting + more.waiting }),
        _ => None,
    };
}
