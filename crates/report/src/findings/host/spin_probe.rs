//! What the spin probe saw in a window, where nothing else tells of others. It sees all that keeps a thread from its cores, the load itself
//! included: that nothing did says that nobody did, that something did says not who.

use crate::findings::telemetry::{Trace, traces};
use proofload_analysis::distribution::mean;
use proofload_model::series::spin;
use proofload_record::Attempt;

/// Seconds between two readings, or to an end of the window, from which a second was not read; ours. Readings are a second apart, and one and a
/// half where one of them covers two seconds.
const UNREAD: f64 = 1.75;

/// What a thread that computes was kept from.
#[derive(Debug, Clone, PartialEq)]
pub struct SpinSeen {
    /// Share of its time in which it had no core, 0 to 1.
    pub share: f64,
    /// Share of the time of the one piece of computing that was kept off longest.
    pub worst: f64,
    /// Seconds that were read.
    pub seconds: usize,
    /// True where every second of the window was read.
    pub is_whole: bool,
}

/// Looks at a stretch; `None` where the probe did not run.
pub(crate) fn spin_seen(attempt: &Attempt, stretch: (f64, f64)) -> Option<SpinSeen> {
    let [ratios, largest] = [spin::RATIO, spin::RATIO_MAX].map(|series| {
        traces(attempt, series).first().map(|trace| trace.within(stretch)).filter(|trace| !trace.samples.is_empty())
    });
    let ratios = ratios?;
    let share = |ratio: f64| (1.0 - 1.0 / ratio.max(1.0)).clamp(0.0, 1.0);
    let values = ratios.values();
    let worst = largest.map(|trace| trace.values()).and_then(|values| values.into_iter().reduce(f64::max));
    // A second of which few pieces ended counts like the others: it is one in which the thread was kept off.
    Some(SpinSeen {
        share: share(mean(&values)),
        worst: share(worst.unwrap_or(1.0)),
        seconds: values.len(),
        is_whole: is_whole(&ratios, stretch),
    })
}

fn is_whole(trace: &Trace, (from, to): (f64, f64)) -> bool {
    let mut moments: Vec<f64> = trace.samples.iter().map(|(at, _)| *at).chain([from, to]).collect();
    moments.sort_by(f64::total_cmp);
    moments.windows(2).all(|pair| pair[1] - pair[0] < UNREAD)
}

impl SpinSeen {
    /// Whether others took no more than is tolerated: the thread had its cores, in every second of the window.
    pub(crate) fn is_quiet(&self, tolerated: f64) -> bool {
        self.is_whole && self.share <= tolerated
    }

    /// Why the figures are not those of a quiet host, in words; `None` where they are.
    pub(crate) fn beyond(&self, tolerated: f64) -> Option<String> {
        if self.is_quiet(tolerated) {
            return None;
        }
        if self.share <= tolerated {
            return Some(
                "the spin probe, all that tells of others here, did not read every second of the window".to_owned(),
            );
        }
        Some(format!(
            "the spin probe, all that tells of others here, was kept from its core for {:.0} % of its time, by others or by \
             the load itself",
            100.0 * self.share
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(share: f64, is_whole: bool) -> SpinSeen {
        SpinSeen { share, worst: share, seconds: 60, is_whole }
    }

    #[test]
    fn only_a_window_that_was_read_whole_may_be_called_quiet() {
        let verdicts = [(0.01, true), (0.01, false), (0.2, true), (0.2, false)].map(|(share, is_whole)| {
            let seen = seen(share, is_whole);
            (seen.is_quiet(0.05), seen.beyond(0.05).is_none())
        });
        assert_eq!(verdicts, [(true, true), (false, false), (false, false), (false, false)]);
        assert!(seen(0.2, true).beyond(0.05).is_some_and(|why| why.contains("20 % of its time")));
    }

    #[test]
    fn a_second_without_a_reading_is_noticed_also_at_the_ends() {
        let at = |moments: &[f64]| {
            let samples = moments.iter().map(|at| (*at, 1.0)).collect();
            is_whole(&Trace { instance: String::new(), samples }, (10.0, 14.0))
        };
        assert!(at(&[10.5, 11.5, 12.5, 13.5]) && at(&[10.6, 11.4, 12.9, 13.5]) && at(&[10.5, 12.0, 13.5]));
        assert!(!at(&[10.5, 12.5, 13.5]) && !at(&[12.0, 13.0]) && !at(&[10.5, 11.5]));
    }
}
