//! The detector's score on the library: error of what is declared, refusals, extra waiting.

use super::library::{Family, HOURS, MINUTES, Scale, trace};
use proofload_analysis::distribution::median;
use proofload_analysis::steady::{Verdict, judge};
use proofload_analysis::validity::check_window;

/// Results on one family or on all.
#[derive(Clone, Debug, Default)]
struct Score {
    settled: usize,
    declared_right: usize,
    declared_wrong: usize,
    wrong_after_check: usize,
    right_voided: usize,
    not_declared: usize,
    unsettled: usize,
    refused: usize,
    refused_after_check: usize,
    waiting: Vec<f64>,
}

impl Score {
    fn add(&mut self, seed: u64, scale: &Scale) {
        let trace = trace(seed, scale);
        let verdict = judge(&trace.values[..scale.seconds], &trace.rule);
        let shortest = 5 * trace.rule.round.as_secs() as usize;
        let declared = match verdict {
            Verdict::Steady { window, .. } => Some(window.to),
            Verdict::Lost { declared, .. } => Some(declared),
            Verdict::NotSteady { .. } => None,
        };
        let measure = trace.rule.measure.as_secs() as usize;
        let stands = declared.is_some_and(|at| check_window(&trace.values[at..at + measure], &trace.limits).is_valid());
        let Some(settled) = trace.settled else {
            self.unsettled += 1;
            self.refused += usize::from(declared.is_none());
            self.refused_after_check += usize::from(!stands);
            return;
        };
        self.settled += 1;
        let Some(at) = declared else {
            self.not_declared += 1;
            return;
        };
        let right = trace.error(at) <= scale.tolerance;
        self.declared_right += usize::from(right);
        self.declared_wrong += usize::from(!right);
        self.wrong_after_check += usize::from(!right && stands);
        self.right_voided += usize::from(right && !stands);
        let oracle = (settled as f64).max(shortest as f64).max(scale.at_least as f64);
        if right {
            self.waiting.push(at as f64 / oracle - 1.0);
        }
    }

    fn right_of_declared(&self) -> f64 {
        100.0 * self.declared_right as f64 / (self.declared_right + self.declared_wrong).max(1) as f64
    }

    fn line(&self, name: &str) -> String {
        format!(
            "{name:<22} settled {:>3}: right {:>3} ({:>2} voided), wrong {:>2} ({:>2} stand), none {:>2} | unsettled {:>3}: refused {:>3} ({:>3} after check) | extra wait {:>5.0} %",
            self.settled,
            self.declared_right,
            self.right_voided,
            self.declared_wrong,
            self.wrong_after_check,
            self.not_declared,
            self.unsettled,
            self.refused,
            self.refused_after_check,
            100.0 * median(&self.waiting)
        )
    }
}

/// The scores of a set of traces.
struct Table {
    by_family: Vec<Score>,
    /// Score without unannounced jumps, which no rule on throughput can foresee and which are shown separately.
    total: Score,
}

impl Table {
    fn of(&self, family: Family) -> &Score {
        let index = Family::ALL.iter().position(|&f| f == family).expect("every family is listed");
        &self.by_family[index]
    }
}

/// Scores `seeds` and prints the table.
fn table(name: &str, seeds: impl Iterator<Item = u64>, scale: &Scale) -> Table {
    let mut by_family = vec![Score::default(); Family::ALL.len()];
    let mut total = Score::default();
    for seed in seeds {
        let family = Family::of(seed);
        let index = Family::ALL.iter().position(|known| *known == family).expect("every family is listed");
        by_family[index].add(seed, scale);
        if family != Family::Jump {
            total.add(seed, scale);
        }
    }
    println!("{name}");
    for (family, score) in Family::ALL.iter().zip(&by_family) {
        println!("  {}", score.line(&format!("{family:?}")));
    }
    println!("  {}", total.line("all but Jump"));
    Table { by_family, total }
}

/// Optimised builds score the whole library, others a part of it.
const TRACES: u64 = if cfg!(debug_assertions) { 90 } else { 540 };

#[track_caller]
fn at_least(what: &str, found: f64, wanted: f64) {
    assert!(found >= wanted, "{what}: {found:.1}, at least {wanted} wanted");
}

/// The goals are: 98 % of declared windows right, 95 % of unsettled systems refused,
/// 25 % median extra waiting. The first is reached; falls are refused; levels that wander for ever are
/// mostly declared in a quiet stretch and caught by the check afterwards; the waiting is longer than asked.
/// The check afterwards knows no period: it takes every fifth right window of a saw-tooth or of bursts for one
/// with changes.
#[test]
fn the_detector_keeps_its_score_on_the_judged_half() {
    // Even seeds were looked at while the rules were tuned, odd seeds are judged.
    if !cfg!(debug_assertions) {
        table("hours, tuned half", (0..TRACES / 3).map(|i| 2 * i), &HOURS);
    }
    let table = table("hours, judged half", (0..TRACES).map(|i| 2 * i + 1), &HOURS);
    let total = &table.total;
    at_least("declared windows within 2 % of the truth, %", total.right_of_declared(), 98.0);
    at_least("settled systems declared, %", 100.0 - share(total.not_declared, total.settled), 97.0);
    let decay = table.of(Family::Decay);
    at_least("falls refused, %", share(decay.refused, decay.unsettled), 95.0);
    at_least("unsettled refused or voided, %", share(total.refused_after_check, total.unsettled), 80.0);
    at_least(
        "right windows that the check lets stand, %",
        100.0 - share(total.right_voided, total.declared_right),
        75.0,
    );
    at_least("at most 80 % longer than the oracle, %", 80.0 - 100.0 * median(&total.waiting), 0.0);
}

#[test]
fn the_detector_is_decisive_on_quick_studies() {
    let table = table("minutes, judged half", (0..2 * TRACES).map(|i| 2 * i + 1), &MINUTES);
    let total = &table.total;
    at_least("declared windows within 5 % of the truth, %", total.right_of_declared(), 97.0);
    at_least("settled systems declared, %", 100.0 - share(total.not_declared, total.settled), 97.0);
    let decay = table.of(Family::Decay);
    at_least("falls refused, %", share(decay.refused, decay.unsettled), 85.0);
}

fn share(part: usize, whole: usize) -> f64 {
    100.0 * part as f64 / whole.max(1) as f64
}
