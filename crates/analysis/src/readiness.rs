//! Whether a deployment is ready to be measured although its throughput is already steady: caches filled, cleaners in balance, standbys
//! close behind. Waits only for what is shown to move. The tolerances are ours: what they stand for is said at each.

use super::steady::Rule;
use super::trend::{Care, trend};
use proofload_model::readiness::{ReadinessCondition, ReadinessFound};

/// Largest drift of the share of reads that are found in a cache: one percentage point.
const HITS_TOLERANCE: f64 = 0.01;

/// Largest drift of the dirty share of a cache: five percentage points. A share that rises meets the cleaner's watermark later, and
/// throughput falls then.
const DIRTY_TOLERANCE: f64 = 0.05;

/// Most bytes of log that a standby may have still to apply; also the most by which they may grow while the load is measured.
const LAG_TOLERANCE: f64 = 16.0 * 1024.0 * 1024.0;

/// What was observed of a deployment in one second; `None` where it was not.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StateSecond {
    /// Reads that the cache tier was asked for and those that it answered, 1/s.
    pub cache_reads: Option<(f64, f64)>,
    /// Bytes of the cache tier in use and those of dirty lines.
    pub cache_bytes: Option<(f64, f64)>,
    /// Bytes of log that the last standby has still to apply.
    pub behind: Option<f64>,
    /// Whether the mode of replication was in force; `None` also without one.
    pub in_force: Option<bool>,
}

/// The conditions that can be judged from these seconds, one after the other from the start of the load. Those of which nothing is known are left out.
pub fn readiness(seconds: &[StateSecond], rule: &Rule) -> Vec<ReadinessFound> {
    let share = |part: Option<(f64, f64)>| part.filter(|(whole, _)| *whole > 0.0).map(|(whole, part)| part / whole);
    let judged = |condition, of: &dyn Fn(&StateSecond) -> Option<f64>| {
        let values = carried(seconds.iter().map(of));
        found(condition, &values, rule)
    };
    let hits = judged(ReadinessCondition::CacheHits, &|second| share(second.cache_reads));
    let dirty = judged(ReadinessCondition::CacheDirty, &|second| share(second.cache_bytes));
    let in_force = judged(ReadinessCondition::ModeInForce, &|second| second.in_force.map(|is| f64::from(u8::from(is))));
    let behind = judged(ReadinessCondition::StandbyLag, &|second| second.behind);
    [hits, dirty, in_force, behind].into_iter().flatten().collect()
}

/// Values from the first known one on; a missing one is as the one before it.
fn carried(values: impl Iterator<Item = Option<f64>>) -> Vec<f64> {
    let mut last = None;
    values
        .filter_map(|value| {
            last = value.or(last);
            last
        })
        .collect()
}

/// The condition over the last rounds, at least three; `None` with fewer.
fn found(condition: ReadinessCondition, values: &[f64], rule: &Rule) -> Option<ReadinessFound> {
    let round = rule.round_seconds();
    let length = rule.window_seconds().min(values.len() / round * round);
    if length < 3 * round {
        return None;
    }
    let window = &values[values.len() - length..];
    let horizon = rule.horizon().as_secs() as usize;
    let mean = window.iter().sum::<f64>() / length as f64;
    // A mean of zero has no trend relative to it: all values are zero.
    let drift = trend(window, round, Care::Deciding).map(|trend| trend.drift_over(horizon));
    let rise = drift.as_ref().map_or(0.0, |share| mean * share.value());
    let bounds = drift.and_then(|share| share.interval().bounds());
    let bounds = bounds.map_or((0.0, 0.0), |(low, high)| (mean * low, mean * high));
    let last = &window[length - round..];
    let holds = match condition {
        ReadinessCondition::CacheHits => !is_beyond(bounds, HITS_TOLERANCE),
        ReadinessCondition::CacheDirty => !is_beyond(bounds, DIRTY_TOLERANCE),
        ReadinessCondition::ModeInForce => last.iter().all(|share| *share == 1.0),
        ReadinessCondition::StandbyLag => bounds.0 <= LAG_TOLERANCE && last.iter().all(|bytes| *bytes < LAG_TOLERANCE),
    };
    Some(ReadinessFound { condition, value: mean, drift: rise, bounds, seconds: length as u64, holds })
}

/// Whether a whole interval lies beyond a tolerance on one side.
fn is_beyond((low, high): (f64, f64), tolerance: f64) -> bool {
    low > tolerance || high < -tolerance
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::autoregressive;
    use std::time::Duration;

    fn rule() -> Rule {
        Rule {
            round: Duration::from_secs(12),
            at_least: Duration::ZERO,
            at_most: Duration::from_secs(600),
            measure: Duration::from_secs(120),
            tolerance: 0.05,
        }
    }

    /// Hits by second with noise around a level of each second.
    fn reads(seed: u64, level: impl Fn(f64) -> f64) -> Vec<StateSecond> {
        let noise = autoregressive(seed, 60, 0.5);
        let second = |(second, noise): (usize, &f64)| StateSecond {
            cache_reads: Some((400.0, 400.0 * (level(second as f64) + 0.01 * noise).clamp(0.0, 1.0))),
            ..StateSecond::default()
        };
        noise.iter().enumerate().map(second).collect()
    }

    fn holds(seconds: &[StateSecond]) -> bool {
        readiness(seconds, &rule()).iter().all(|found| found.holds)
    }

    #[test]
    fn a_cache_that_fills_is_waited_for_and_a_full_one_is_not() {
        // Ten points in a minute are twenty over the two that are measured.
        let waits = (0..100).filter(|seed| !holds(&reads(*seed, |second| 0.6 + 0.1 * second / 60.0))).count();
        assert!(waits >= 98, "{waits} of 100 that fill");
        let waits = (0..100).filter(|seed| !holds(&reads(*seed, |_| 0.8))).count();
        assert!(waits <= 5, "{waits} of 100 that are full");
    }

    #[test]
    fn dirty_lines_that_rise_towards_the_watermark_are_waited_for() {
        let at = |second: usize, dirty: f64| StateSecond {
            cache_bytes: Some((1e9, 1e9 * (dirty + 0.001 * (second % 3) as f64))),
            ..StateSecond::default()
        };
        let rising: Vec<StateSecond> = (0..60).map(|second| at(second, second as f64 / 120.0)).collect();
        assert!(!holds(&rising));
        assert!(holds(&(0..60).map(|second| at(second, 0.4)).collect::<Vec<_>>()));
        assert!(holds(&vec![StateSecond { cache_bytes: Some((1e9, 0.0)), ..StateSecond::default() }; 60]));
    }

    #[test]
    fn standbys_are_ready_when_they_are_in_sync_close_and_do_not_fall_behind() {
        let at = |bytes: f64, in_force: bool| StateSecond {
            behind: Some(bytes),
            in_force: Some(in_force),
            ..StateSecond::default()
        };
        assert!(holds(&vec![at(1e6, true); 60]));
        assert!(!holds(&vec![at(17e6, true); 60]), "too far behind");
        assert!(!holds(&[vec![at(1e6, true); 59], vec![at(1e6, false)]].concat()), "out of sync in the last second");
        assert!(holds(&[vec![at(1e6, false); 40], vec![at(1e6, true); 20]].concat()), "it came into force meanwhile");
        let growing: Vec<StateSecond> =
            (0..60).map(|second| at(1e5 * f64::from(second) + f64::from(second % 3), true)).collect();
        assert!(holds(&growing), "12 MB over two minutes stay below the bound");
        let growing: Vec<StateSecond> =
            (0..60).map(|second| at(2e5 * f64::from(second) + f64::from(second % 3), true)).collect();
        assert!(!holds(&growing), "24 MB over two minutes do not");
    }

    #[test]
    fn what_is_not_observed_or_too_short_is_not_judged() {
        assert_eq!(readiness(&[StateSecond::default(); 60], &rule()), []);
        assert_eq!(readiness(&reads(1, |_| 0.8)[..30], &rule()), []);
        assert_eq!(readiness(&reads(1, |_| 0.8), &rule()).len(), 1);
        let mut gaps = reads(1, |_| 0.8);
        gaps.iter_mut().step_by(2).for_each(|second| second.cache_reads = None);
        assert!(holds(&gaps), "a second without a reading is as the one before");
    }
}
