//! Deciding live when the warm-up ends: after its planned length, or as soon as `analysis::steady` declares the load steady and
//! `analysis::readiness` caches and standbys ready.

use super::state_seconds::StateSeconds;
use proofload_analysis::readiness::readiness;
use proofload_analysis::steady::{Detector, Rule, Verdict};
use proofload_model::events::RunEvent;
use proofload_model::readiness::ReadinessFound;
use proofload_model::study::Procedure;
use std::time::Duration;

/// Watches one warm-up.
pub(crate) struct WarmUpWatch {
    rule: Rule,
    /// Looks for a steady state; `None` where the length is planned.
    detector: Option<Box<Detector>>,
    /// Second from which it looks: the one at which throughput last left a steady state.
    since: usize,
}

/// End of a warm-up.
#[derive(Debug, PartialEq)]
pub(crate) struct WarmUpEnded {
    /// How it ended.
    pub(crate) event: RunEvent,
    /// Caches and standbys at that moment; nothing where none is observed.
    pub(crate) readiness: Vec<ReadinessFound>,
}

impl WarmUpWatch {
    /// Begins to watch by the rules of a procedure.
    pub(crate) fn new(procedure: &Procedure) -> Self {
        let rule = Rule::of(procedure);
        let detector = (!procedure.has_fixed_warm_up()).then(|| Box::new(Detector::new(rule.clone())));
        Self { rule, detector, since: 0 }
    }

    /// Looks at all seconds since the load began; how it ended, once it has.
    pub(crate) fn look(&mut self, throughput: &[f64], state: &StateSeconds) -> Option<WarmUpEnded> {
        let seconds = throughput.len() as u64;
        let Some(detector) = &mut self.detector else {
            let ended = || WarmUpEnded {
                event: RunEvent::WarmedUp { seconds },
                readiness: readiness(&state.first(throughput.len()), &self.rule),
            };
            return (seconds >= self.rule.at_least.as_secs()).then(ended);
        };
        let mut verdict = detector.update(&throughput[self.since..]);
        if let Verdict::Lost { at, .. } = &mut verdict {
            self.since += *at;
            *at = self.since;
            **detector = Detector::new(Rule { at_least: Duration::ZERO, ..self.rule.clone() });
        }
        let is_spent = seconds >= self.rule.at_most.as_secs();
        if !is_spent && !matches!(verdict, Verdict::Steady { .. }) {
            return None;
        }
        let readiness = readiness(&state.first(throughput.len()), &self.rule);
        let against = against(&verdict, &readiness);
        (is_spent || against.is_empty()).then(|| {
            let seconds = Some(seconds);
            let event = match against.as_slice() {
                [] => RunEvent::Steady { seconds },
                reasons => RunEvent::NotSteady { seconds, verdict: reasons.join("; ") },
            };
            WarmUpEnded { event, readiness }
        })
    }
}

/// What stands against the end of a warm-up, in words.
fn against(verdict: &Verdict, readiness: &[ReadinessFound]) -> Vec<String> {
    let of_load = match verdict {
        Verdict::Steady { .. } => Vec::new(),
        Verdict::NotSteady { reasons, .. } => reasons.iter().map(ToString::to_string).collect(),
        Verdict::Lost { at, .. } => vec![format!("throughput changed at second {at}")],
    };
    let of_state = readiness.iter().filter(|found| !found.holds).map(ToString::to_string);
    of_load.into_iter().chain(of_state).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofload_model::deployment::InstanceName;
    use proofload_model::readiness::ReadinessCondition;
    use proofload_model::samples::Telemetry;
    use proofload_model::series::tier;
    use proofload_model::time::{Moment, Offset};

    fn watch(at_least: u64, detects: bool) -> WarmUpWatch {
        let seconds = Duration::from_secs;
        let rule = Rule {
            round: seconds(4),
            at_least: seconds(at_least),
            at_most: seconds(90),
            measure: seconds(60),
            tolerance: 0.05,
        };
        WarmUpWatch { detector: detects.then(|| Box::new(Detector::new(rule.clone()))), rule, since: 0 }
    }

    /// The end of a warm-up under an even load, before a cache whose share of hits rises until a second.
    fn ended(watch: WarmUpWatch, fills_until: u32) -> WarmUpEnded {
        ended_at_rates(watch, fills_until, |_| 500.0)
    }

    fn ended_at_rates(mut watch: WarmUpWatch, fills_until: u32, rate: impl Fn(u32) -> f64) -> WarmUpEnded {
        let (mut throughput, mut state) = (Vec::new(), StateSeconds::default());
        for second in 0..100 {
            let hits = 0.5 + 0.4 * f64::from(second.min(fills_until)) / 100.0 + 0.001 * f64::from(second % 3);
            let readings = vec![tier::READS.reading("data", 1e3), tier::READ_HITS.reading("data", 1e3 * hits)];
            let (instance, moment, span_ns) = (InstanceName::primary(), Moment(0), 1_000_000_000);
            let telemetry = Telemetry { instance, probe: tier::PROBE.to_owned(), moment, span_ns, readings };
            state.take(Offset(i64::from(second) * 1_000_000_000), &telemetry);
            throughput.push(rate(second) + f64::from(second % 2));
            if let Some(ended) = watch.look(&throughput, &state) {
                return ended;
            }
        }
        panic!("it has not ended in 100 s");
    }

    #[test]
    fn an_even_load_before_a_cache_that_fills_is_waited_for() {
        let full = ended(watch(10, true), 0);
        assert_eq!(full.event, RunEvent::Steady { seconds: Some(20) });
        let found = &full.readiness[0];
        assert_eq!((found.condition, found.holds, full.readiness.len()), (ReadinessCondition::CacheHits, true, 1));
        let fills = ended(watch(10, true), 40);
        let RunEvent::Steady { seconds: Some(seconds) } = fills.event else { panic!("{fills:?}") };
        assert!((41..=60).contains(&seconds), "{seconds}");
    }

    #[test]
    fn a_load_that_changes_while_a_cache_is_waited_for_is_looked_at_anew() {
        let found = ended_at_rates(watch(10, true), 60, |second| if second < 35 { 500.0 } else { 300.0 });
        let RunEvent::Steady { seconds: Some(seconds) } = found.event else { panic!("{found:?}") };
        assert!((61..=85).contains(&seconds), "steady again, and full: {seconds}");
    }

    #[test]
    fn a_budget_that_is_spent_says_what_still_moved() {
        let spent = ended(watch(10, true), 100);
        let RunEvent::NotSteady { seconds: Some(90), verdict } = &spent.event else { panic!("{spent:?}") };
        assert!(
            verdict.contains("reads found in the cache: 8") && verdict.contains("%, not ready, drift +"),
            "{verdict}"
        );
    }

    #[test]
    fn a_planned_length_says_what_still_moved_and_waits_for_nothing() {
        let planned = ended(watch(25, false), 100);
        assert_eq!(planned.event, RunEvent::WarmedUp { seconds: 25 });
        assert!(!planned.readiness[0].holds, "{planned:?}");
    }
}
