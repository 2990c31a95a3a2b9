//! Deciding live when the warm-up ends: after its planned length, or as soon as `analysis::steady` declares the load steady and
//! `analysis::readiness` caches and standbys ready.

use super::state_seconds::StateSeconds;
use proofload_analysis::readiness::readiness;
use proofload_analysis::steady::{Detector, Rule, Verdict};
use proofload_model::events::RunEvent;
use proofload_model::readiness::{ReadinessCondition, ReadinessFound};
use proofload_model::study::Procedure;
use std::time::Duration;

/// Watches one warm-up.
pub(crate) struct WarmUpWatch {
    rule: Rule,
    /// Looks for a steady state; `None` where the length is planned.
    detector: Option<Box<Detector>>,
    /// Second from which it looks: the one at which throughput last left a steady state.
    since: usize,
    /// Conditions that are waited for although throughput is steady.
    waited_for: Vec<ReadinessCondition>,
}

/// Where a warm-up stands after another second.
#[derive(Debug, PartialEq)]
pub(crate) enum WarmUpStanding {
    /// It goes on, with nothing new to say.
    GoesOn,
    /// Throughput is steady, and the warm-up waits for these, which it did not before.
    Waits(Vec<ReadinessFound>),
    /// It has ended.
    Ended(WarmUpEnded),
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
        Self { rule, detector, since: 0, waited_for: Vec::new() }
    }

    /// Looks at all seconds since the load began.
    pub(crate) fn look(&mut self, throughput: &[f64], state: &StateSeconds) -> WarmUpStanding {
        let seconds = throughput.len() as u64;
        let Some(detector) = &mut self.detector else {
            if seconds < self.rule.at_least.as_secs() {
                return WarmUpStanding::GoesOn;
            }
            let readiness = readiness(&state.first(throughput.len()), &self.rule);
            return WarmUpStanding::Ended(WarmUpEnded { event: RunEvent::WarmedUp { seconds }, readiness });
        };
        let mut verdict = detector.update(&throughput[self.since..]);
        if let Verdict::Lost { at, .. } = &mut verdict {
            self.since += *at;
            *at = self.since;
            **detector = Detector::new(Rule { at_least: Duration::ZERO, ..self.rule.clone() });
        }
        let is_spent = seconds >= self.rule.at_most.as_secs();
        let is_steady = matches!(verdict, Verdict::Steady { .. });
        if !is_spent && !is_steady {
            self.waited_for.clear();
            return WarmUpStanding::GoesOn;
        }
        let readiness = readiness(&state.first(throughput.len()), &self.rule);
        let against = against(&verdict, &readiness);
        if !is_spent && !against.is_empty() {
            return self.wait(&readiness);
        }
        let seconds = Some(seconds);
        let event = match against.as_slice() {
            [] => RunEvent::Steady { seconds },
            reasons => RunEvent::NotSteady { seconds, verdict: reasons.join("; ") },
        };
        WarmUpStanding::Ended(WarmUpEnded { event, readiness })
    }

    /// Notes what is waited for.
    fn wait(&mut self, readiness: &[ReadinessFound]) -> WarmUpStanding {
        let open: Vec<ReadinessFound> = readiness.iter().filter(|found| !found.holds).copied().collect();
        let conditions: Vec<ReadinessCondition> = open.iter().map(|found| found.condition).collect();
        if conditions.iter().all(|condition| self.waited_for.contains(condition)) {
            return WarmUpStanding::GoesOn;
        }
        self.waited_for = conditions;
        WarmUpStanding::Waits(open)
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
        let detector = detects.then(|| Box::new(Detector::new(rule.clone())));
        WarmUpWatch { detector, rule, since: 0, waited_for: Vec::new() }
    }

    /// The end of a warm-up under an even load, before a cache whose share of hits rises until a second.
    fn ended(watch: WarmUpWatch, fills_until: u32) -> WarmUpEnded {
        ended_at_rates(watch, fills_until, |_| 500.0).0
    }

    /// The same at the rate of each second; also how often it said that it waits.
    fn ended_at_rates(mut watch: WarmUpWatch, fills_until: u32, rate: impl Fn(u32) -> f64) -> (WarmUpEnded, usize) {
        let (mut throughput, mut state, mut waits) = (Vec::new(), StateSeconds::default(), 0);
        for second in 0..100 {
            let hits = 0.5 + 0.4 * f64::from(second.min(fills_until)) / 100.0 + 0.001 * f64::from(second % 3);
            let readings = vec![tier::READS.reading("data", 1e3), tier::READ_HITS.reading("data", 1e3 * hits)];
            let (instance, moment, span_ns) = (InstanceName::primary(), Moment(0), 1_000_000_000);
            let telemetry = Telemetry { instance, probe: tier::PROBE.to_owned(), moment, span_ns, readings };
            state.take(Offset(i64::from(second) * 1_000_000_000), &telemetry);
            throughput.push(rate(second) + f64::from(second % 2));
            match watch.look(&throughput, &state) {
                WarmUpStanding::Ended(ended) => return (ended, waits),
                WarmUpStanding::Waits(_) => waits += 1,
                WarmUpStanding::GoesOn => {}
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
        let (found, waits) = ended_at_rates(watch(10, true), 60, |second| if second < 35 { 500.0 } else { 300.0 });
        let RunEvent::Steady { seconds: Some(seconds) } = found.event else { panic!("{found:?}") };
        assert!((61..=85).contains(&seconds), "steady again, and full: {seconds}");
        assert_eq!(waits, 2, "said once for each steady state");
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
