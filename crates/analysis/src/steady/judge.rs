//! The detector: a pure function from throughput per second and the rule to a verdict. The conductor
//! calls it once a second while warming up; `verify` calls it again on the record and must hear the same.

use super::super::trend::{Care, Trend, trend};
use super::super::validity::{self, Limits};
use super::remainder::{Question, remainder};
use super::rule::Rule;
use super::verdict::{Evidence, Reason, Verdict, Window};

/// Windows are this many times the shortest one.
const MULTIPLES: [usize; 14] = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128];

/// Quantile of the normal distribution for a two-sided 95 % interval.
const NORMAL_95: f64 = 1.96;

/// Judges throughput per second (NaN for a missing second) since the warm-up began.
///
/// The verdict replays every instant at which the detector would have looked: at the end of a round,
/// and, once the warm-up is long, no more often than every fiftieth of it. The first window that passes
/// is the verdict; what follows it can only turn it into [`Verdict::Lost`].
pub fn judge(throughput: &[f64], rule: &Rule) -> Verdict {
    Detector::new(rule.clone()).update(throughput)
}

/// [`judge`] for a warm-up that is still going on: remembers the instants that it has looked at, so
/// that a call each second costs next to nothing between them. Equal histories give equal verdicts,
/// however many calls they were handed over in.
#[derive(Clone, Debug)]
pub struct Detector {
    rule: Rule,
    next_look: usize,
    last_look: usize,
    declared: Option<Evidence>,
    refusal: Option<Verdict>,
}

impl Detector {
    /// A detector that has seen nothing.
    pub fn new(rule: Rule) -> Self {
        let shortest = rule.window_seconds().max(rule.at_least.as_secs() as usize);
        let round = rule.round_seconds();
        let next_look = shortest.div_ceil(round) * round;
        Self { rule, next_look, last_look: 0, declared: None, refusal: None }
    }

    /// The verdict on the warm-up so far. `throughput` holds the whole history since its start and only
    /// ever grows.
    pub fn update(&mut self, throughput: &[f64]) -> Verdict {
        let budget = self.rule.at_most.as_secs() as usize;
        let seen = throughput.len().min(budget);
        self.look_until(seen, throughput);
        if let Some(evidence) = &self.declared {
            let window = evidence.window;
            return lost(throughput, evidence, &self.rule)
                .unwrap_or_else(|| Verdict::Steady { window, evidence: Box::new(evidence.clone()) });
        }
        let budget_spent = throughput.len() >= budget;
        if self.last_look == 0 {
            return Verdict::NotSteady { reasons: vec![too_short(seen, &self.rule)], best: None, budget_spent };
        }
        let case = Case { history: &throughput[..self.last_look], rule: &self.rule };
        let refusal = self.refusal.get_or_insert_with(|| case.refusal()).clone();
        match refusal {
            Verdict::NotSteady { reasons, best, .. } => Verdict::NotSteady { reasons, best, budget_spent },
            other => other,
        }
    }

    fn look_until(&mut self, seen: usize, throughput: &[f64]) {
        while self.declared.is_none() && self.next_look <= seen {
            let case = Case { history: &throughput[..self.next_look], rule: &self.rule };
            self.declared = case.passing();
            self.refusal = None;
            self.last_look = self.next_look;
            self.next_look = look_after(self.next_look, &self.rule);
        }
    }
}

fn too_short(seconds: usize, rule: &Rule) -> Reason {
    let needed = rule.window_seconds().max(rule.at_least.as_secs() as usize);
    Reason::TooShort { seconds, needed }
}

/// The next instant to look at, in whole rounds; the end of the budget is never passed over.
fn look_after(now: usize, rule: &Rule) -> usize {
    let round = rule.round_seconds();
    let end = (rule.at_most.as_secs() as usize) / round * round;
    let then = now + (now / 50).max(1).div_ceil(round) * round;
    if now < end { then.min(end) } else { then }
}

/// A change beyond the tolerance after the declaration, since the evidence window began.
fn lost(throughput: &[f64], evidence: &Evidence, rule: &Rule) -> Option<Verdict> {
    let declared = evidence.window.to;
    if throughput.len() <= declared {
        return None;
    }
    let limits = Limits::of_rule(rule);
    let since = &throughput[evidence.window.from..];
    let change = validity::changes_in(since, &limits)
        .into_iter()
        .map(|change| evidence.window.from + change.from)
        .find(|&at| at >= declared)?;
    Some(Verdict::Lost { at: change, declared })
}

/// One instant: all samples up to now.
struct Case<'a> {
    history: &'a [f64],
    rule: &'a Rule,
}

impl Case<'_> {
    /// The samples since the last gap, from the next whole round on.
    fn usable(&self) -> &[f64] {
        let round = self.rule.round_seconds();
        let after_gap = self.history.iter().rposition(|x| !x.is_finite()).map_or(0, |at| at + 1);
        &self.history[(after_gap.div_ceil(round) * round).min(self.history.len())..]
    }

    /// Windows that end now, shortest first.
    fn windows(&self) -> impl Iterator<Item = &[f64]> {
        let usable = self.usable();
        let shortest = self.rule.window_seconds();
        MULTIPLES
            .into_iter()
            .map(move |multiple| multiple * shortest)
            .take_while(move |&length| length <= usable.len())
            .map(move |length| &usable[usable.len() - length..])
    }

    /// The first window that passes everything.
    fn passing(&self) -> Option<Evidence> {
        let round = self.rule.round_seconds();
        let shortest = self.rule.window_seconds();
        let hopeful = |window: &&[f64]| {
            trend(window, round, Care::Screening).is_some_and(|found| {
                found.scaled(found.rise.abs() + 1.5 * found.error, shortest) <= self.rule.tolerance
            })
        };
        self.windows()
            .filter(hopeful)
            .filter_map(|window| trend(window, round, Care::Deciding))
            .filter(|found| self.drift_passes(found, shortest))
            .map(|found| (self.evidence(&found), self.drift_passes(&found, self.horizon())))
            .find(|(evidence, steady_for_long)| {
                self.remainder_reason(evidence).is_none() && (*steady_for_long || evidence.end_in_sight)
            })
            .map(|(evidence, _)| evidence)
    }

    fn horizon(&self) -> usize {
        self.rule.horizon().as_secs() as usize
    }

    fn drift_passes(&self, found: &Trend, horizon: usize) -> bool {
        found.scaled(found.rise.abs() + found.half_width(), horizon) <= self.rule.tolerance
    }

    fn evidence(&self, found: &Trend) -> Evidence {
        let usable = self.usable();
        let round = self.rule.round_seconds();
        let now = self.history.len();
        let question = Question {
            round,
            shortest: found.n,
            measure: (self.rule.measure.as_secs() as usize).max(1),
            noise: found.noise * found.mean * found.mean,
            freedom: found.freedom,
        };
        let approach = remainder(usable, &question);
        Evidence {
            window: Window { from: now - found.n, to: now },
            mean: found.mean,
            drift: found.drift_over(self.horizon()),
            end_in_sight: approach.as_ref().is_some_and(|approach| approach.end_in_sight),
            remainder: approach.map(|approach| approach.shortfall),
            resolution: NORMAL_95 * (found.noise / question.measure as f64).sqrt(),
        }
    }

    fn remainder_reason(&self, evidence: &Evidence) -> Option<Reason> {
        let tolerance = self.rule.tolerance.max(evidence.resolution);
        let found = evidence.remainder.as_ref()?;
        let (low, high) = found.interval().bounds().unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
        (low.abs().max(high.abs()) > tolerance).then(|| Reason::Remainder { remainder: found.clone(), tolerance })
    }

    /// Why nothing passed, argued on the window whose drift comes nearest to passing; whether the budget is
    /// spent is the caller's to say.
    fn refusal(&self) -> Verdict {
        let usable = self.usable();
        let round = self.rule.round_seconds();
        let mut reasons = Vec::new();
        let reach = |found: &Trend| found.scaled(found.rise.abs() + found.half_width(), self.horizon());
        let best = self
            .windows()
            .filter_map(|window| trend(window, round, Care::Deciding))
            .min_by(|a, b| reach(a).total_cmp(&reach(b)));
        let Some(best) = best else {
            reasons.push(match self.history.iter().rposition(|x| !x.is_finite()) {
                _ if usable.len() >= self.rule.window_seconds() => Reason::NoThroughput,
                Some(at) => Reason::Gap { at },
                None => too_short(usable.len(), self.rule),
            });
            return Verdict::NotSteady { reasons, best: None, budget_spent: false };
        };
        let evidence = self.evidence(&best);
        let tolerance = self.rule.tolerance;
        let bends = evidence.end_in_sight && self.drift_passes(&best, self.rule.window_seconds());
        if !bends && !self.drift_passes(&best, self.horizon()) {
            let drift = evidence.drift.clone();
            reasons.push(if drift.value().abs() > tolerance {
                Reason::Drifting { drift, tolerance }
            } else {
                Reason::TooNoisy { drift, tolerance }
            });
        }
        reasons.extend(self.remainder_reason(&evidence));
        Verdict::NotSteady { reasons, best: Some(Box::new(evidence)), budget_spent: false }
    }
}
