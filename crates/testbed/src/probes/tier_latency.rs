//! Times of requests to a cache tier, second by second: by volume and class, from histograms that only grow. Reads nothing itself; may not judge.

use proofload_model::samples::Reading;
use proofload_model::series::tier;
use proofload_model::tier::{RequestClass, TierVolume, TimedRequests};
use proofload_tier::tier::{LatencyClass, LatencyHistogram, VolumeSnapshot};
use std::time::Duration;

/// Classes of requests as the tier and as records name them.
const CLASSES: [(LatencyClass, RequestClass); 3] = [
    (LatencyClass::Hit, RequestClass::Hit),
    (LatencyClass::Miss, RequestClass::Miss),
    (LatencyClass::Flush, RequestClass::Flush),
];

/// The volumes of a tier at the reading before.
#[derive(Default)]
pub(super) struct TierLatencies(Vec<VolumeSnapshot>);

impl TierLatencies {
    /// Forgets a tier that is not open any more.
    pub(super) fn forget(&mut self) {
        self.0.clear();
    }

    /// Requests per second in each bucket since the reading before. Buckets that were ever in use stay, so that the record has the same series
    /// at each moment.
    pub(super) fn readings(&mut self, now: Vec<VolumeSnapshot>, span: Option<Duration>) -> Vec<Reading> {
        let before = std::mem::replace(&mut self.0, now);
        let Some(span) = span.filter(|span| !span.is_zero()) else { return Vec::new() };
        let mut readings = Vec::new();
        for now in &self.0 {
            let Some(volume) = TierVolume::of(now.class.name()) else { continue };
            let Some(earlier) = before.iter().find(|one| one.class == now.class) else { continue };
            for (of_tier, class) in CLASSES {
                let counts = counted(earlier.latencies(of_tier), now.latencies(of_tier));
                readings.extend(counts.into_iter().map(|(up_to_ns, count)| {
                    let component = TimedRequests { volume, class, up_to_ns }.to_string();
                    tier::LATENCY.reading(component, count as f64 / span.as_secs_f64())
                }));
            }
        }
        readings
    }
}

/// Highest time of every bucket in use, ns, and what was counted in it meanwhile; nothing of a tier that was opened again and counts from 0.
fn counted(earlier: &LatencyHistogram, now: &LatencyHistogram) -> Vec<(u64, u64)> {
    if now.count() < earlier.count() {
        return Vec::new();
    }
    let added = now.since(earlier).eighths();
    let count = |up_to_ns: u64| added.iter().find(|(known, _)| *known == up_to_ns).map_or(0, |(_, count)| *count);
    now.eighths().into_iter().map(|(up_to_ns, _)| (up_to_ns, count(up_to_ns))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn histogram(times: &[u64]) -> LatencyHistogram {
        let mut histogram = LatencyHistogram::default();
        times.iter().for_each(|time| histogram.record(Duration::from_nanos(*time)));
        histogram
    }

    #[test]
    fn a_bucket_in_use_stays_and_a_reset_counts_nothing() {
        let (earlier, now) = (histogram(&[100, 100, 5000]), histogram(&[100, 100, 5000, 5001, 5002, 90_000]));
        let counts = counted(&earlier, &now);
        assert_eq!(counts.iter().map(|(_, count)| *count).collect::<Vec<_>>(), [0, 2, 1], "{counts:?}");
        assert!(counts[1].0 >= 5002 && counts[1].0 <= 5002 * 9 / 8, "{counts:?}");
        assert_eq!(counted(&now, &earlier), []);
    }
}
