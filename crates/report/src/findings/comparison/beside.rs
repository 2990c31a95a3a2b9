//! Whether runs of two points were measured beside each other: right after each other where their studies took turns, at the same time in a
//! duet. That both records name each other does not tell: a run may have been measured again alone. May not judge what was measured.

use super::super::evaluate::Findings;
use super::super::point::PointFindings;
use super::super::run::RunFindings;
use super::compare::Side;
use super::pairing::{Pair, Which};
use proofload_model::events::RunEvent;
use proofload_model::settings::setting;
use proofload_record::{Attempt, Record};
use std::collections::BTreeSet;

/// Longest pause between attempts that are still measured right after each other, µs: a retry waits up to a minute for a quiet host.
const MOST_PAUSE_US: i64 = 5 * 60 * 1_000_000;

/// Fewest repetitions from which a ratio is formed.
const FEWEST: usize = 2;

/// Repetitions of a pair of points from two records that were measured with each other, counted from 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Beside {
    /// Whether the studies ran at once.
    pub(super) at_once: bool,
    /// Repetitions whose two runs are partners in time, neither void for more than what moved in it.
    pub(super) together: BTreeSet<u32>,
    /// Other repetitions that one or both sides measured.
    pub(super) apart: BTreeSet<u32>,
}

impl Beside {
    /// Looks at the last attempts of all runs; `None` where the records were not measured with each other.
    pub(super) fn of(
        (baseline, ours): Side<'_, '_>,
        (candidate, theirs): Side<'_, '_>,
        all: &AttemptsByTime<'_>,
    ) -> Option<Self> {
        if !are_in_turns(baseline, candidate) {
            return None;
        }
        let at_once = are_at_once(baseline, candidate);
        let repetitions: BTreeSet<u32> = ours.runs.iter().chain(&theirs.runs).map(|run| run.run.repetition).collect();
        let is_pair = |repetition: &u32| {
            let counts = |run: &RunFindings| run.run.repetition != *repetition || run.counts_beside_others();
            let pair = last(baseline, ours, *repetition).zip(last(candidate, theirs, *repetition));
            let pair = pair.filter(|_| ours.runs.iter().chain(&theirs.runs).all(counts));
            pair.is_some_and(|(one, other)| all.are_partners(one, other))
        };
        let (pairs, mut apart): (BTreeSet<u32>, BTreeSet<u32>) = repetitions.into_iter().partition(is_pair);
        // Two repetitions of a duet swap places: one without the other would leave in what a place is worth.
        let is_whole = |repetition: &u32| !at_once || pairs.contains(&(repetition ^ 1));
        let (together, halves): (BTreeSet<u32>, BTreeSet<u32>) = pairs.iter().copied().partition(is_whole);
        apart.extend(halves);
        Some(Self { at_once, together, apart })
    }

    /// Whether enough is left for a ratio.
    pub(super) fn is_enough(&self) -> bool {
        self.together.len() >= FEWEST
    }

    /// Tells which repetitions are left out and what follows; `None` where none is.
    fn told(&self, label: &str) -> Option<String> {
        if self.apart.is_empty() {
            return (self.together.len() == 1).then(|| {
                format!(
                    "{label}: one repetition does not make a ratio inside repetitions, so A and B are compared as runs that did not alternate; \
                     set study.repetitions to 4 or more"
                )
            });
        }
        let numbers: Vec<String> = self.apart.iter().map(|repetition| (repetition + 1).to_string()).collect();
        let (which, are) = if numbers.len() == 1 { ("repetition", "is") } else { ("repetitions", "are") };
        let (which, how) = (format!("{which} {} {are}", numbers.join(", ")), self.how());
        let swapped = if self.at_once { ", or those of the repetition that swaps places with it were not" } else { "" };
        let why = format!(
            "the runs of A and B were not measured {how}{swapped} (one is missing, or was measured again alone, as `proofload resume --void` \
             does), or one of them is void"
        );
        Some(if self.is_enough() {
            format!("{label}: {which} left out of the ratio, because {why}")
        } else {
            format!(
                "{label}: too few runs of A and B were measured {how} ({which} left out), so they are compared as runs that did not alternate, \
                 and changes of the host between them are not in the interval; {why}"
            )
        })
    }

    const fn how(&self) -> &'static str {
        if self.at_once { "at the same time" } else { "right after each other" }
    }
}

/// What is left out of each pair of points that is compared, for the reader.
pub(super) fn told_apart(
    pairs: &[Pair<'_>],
    beside: &[Option<Beside>],
    is_compared: impl Fn(usize) -> bool,
) -> Vec<String> {
    let compared = pairs.iter().zip(beside).enumerate().filter(|(index, _)| is_compared(*index));
    let told = |(_, (pair, beside)): (usize, (&Pair<'_>, &Option<Beside>))| {
        let apart = beside.as_ref().and_then(|beside| beside.told(&pair.described()));
        apart.into_iter().chain(void_visits(pair)).collect::<Vec<_>>()
    };
    compared.flat_map(told).collect()
}

/// Which of two points have void runs that count in no ratio; `None` where neither has.
fn void_visits(pair: &Pair<'_>) -> Option<String> {
    let sides = [(Which::Baseline, pair.baseline), (Which::Candidate, pair.candidate)];
    let of = |(which, point): (Which, Option<&PointFindings>)| {
        let point = point.filter(|point| point.has_void_visits())?;
        Some(format!("{} of {} runs in {}", point.void_visits(), point.runs.len(), which.letter()))
    };
    let told: Vec<String> = sides.into_iter().filter_map(of).collect();
    (!told.is_empty()).then(|| {
        format!(
            "{}: void are {}; its figures are not results on their own, only the ratio over the other repetitions",
            pair.described(),
            told.join(" and ")
        )
    })
}

/// The last finished attempt at a run of a point.
fn last<'r>(findings: &Findings<'r>, point: &PointFindings, repetition: u32) -> Option<&'r Attempt> {
    let run = point.runs.iter().find(|run| run.run.repetition == repetition)?;
    findings.finished(run.run.index)
}

/// Begin of an attempt and when it was heard of last, µs.
fn span(attempt: &Attempt) -> (i64, i64) {
    let from = attempt.started.0;
    (from, attempt.events.last().map_or(from, |event| event.at.0.max(from)))
}

fn overlap(one: &Attempt, other: &Attempt) -> bool {
    let (one, other) = (span(one), span(other));
    one.0.max(other.0) <= one.1.min(other.1)
}

/// Attempts of two records that were measured with each other, in the order of their starts, sorted once for all pairs.
pub struct AttemptsByTime<'r> {
    attempts: Vec<&'r Attempt>,
    /// Whether the studies ran at once.
    at_once: bool,
}

impl<'r> AttemptsByTime<'r> {
    /// Attempts of both records.
    pub fn of(records: [&'r Record; 2]) -> Self {
        let mut attempts: Vec<&Attempt> = records.into_iter().flat_map(|record| &record.attempts).collect();
        attempts.sort_by_key(|attempt| attempt.started.0);
        Self { attempts, at_once: in_turns(records[0]).is_some_and(|(_, at_once)| at_once) }
    }

    /// Tells whether two attempts, one of each record, make a block: at the same time in a duet, else right after each other.
    pub fn are_partners(&self, one: &Attempt, other: &Attempt) -> bool {
        if self.at_once { overlap(one, other) } else { self.took_turns(one, other) }
    }

    /// Attempts that began from one moment to another, both included.
    fn begun(&self, from: i64, to: i64) -> &[&'r Attempt] {
        let first = self.attempts.partition_point(|attempt| attempt.started.0 < from);
        let behind = self.attempts.partition_point(|attempt| attempt.started.0 <= to);
        self.attempts.get(first..behind).unwrap_or_default()
    }

    /// Tells whether nothing but runs of the same repetition came between two attempts, without a long pause.
    fn took_turns(&self, one: &Attempt, other: &Attempt) -> bool {
        let (from, to) = (one.started.0.min(other.started.0), one.started.0.max(other.started.0));
        let mut reached = from;
        self.begun(from, to).iter().all(|attempt| {
            let (began, ended) = span(attempt);
            let follows = began - reached <= MOST_PAUSE_US;
            reached = reached.max(ended);
            follows && (attempt.run.sentinel || attempt.run.repetition == one.run.repetition)
        })
    }
}

/// Whether two records were measured in turns with each other, or at once.
pub(super) fn are_in_turns(baseline: &Findings<'_>, candidate: &Findings<'_>) -> bool {
    let token = in_turns(baseline.record);
    token.is_some() && token == in_turns(candidate.record)
}

/// Whether two records were measured at once.
pub(super) fn are_at_once(baseline: &Findings<'_>, candidate: &Findings<'_>) -> bool {
    are_in_turns(baseline, candidate) && in_turns(baseline.record).is_some_and(|(_, at_once)| at_once)
}

/// Whether a study at once with another one swaps places: each of its points has cores of its own, on a host where Proofload starts it.
pub(super) fn swaps_places(findings: &Findings<'_>) -> bool {
    let record = findings.record;
    let has_cores =
        |id: u32| record.plan.settings(&record.study, id).count(setting::LIMITS_CORES).is_ok_and(|count| count > 0);
    record.study.settings.get(setting::ENGINE_URL).is_none()
        && record.plan.points.iter().all(|point| has_cores(point.id))
}

/// What a record has in common with the one that it was measured with, and whether they were at once.
fn in_turns(record: &Record) -> Option<(&str, bool)> {
    record.events.iter().find_map(|event| match &event.event {
        RunEvent::InTurns { token, at_once, .. } => Some((token.as_str(), *at_once)),
        _ => None,
    })
}

/// A caution where the runs of two records did not alternate, with what is known of their times.
pub(super) fn not_in_turns(baseline: &Findings<'_>, candidate: &Findings<'_>) -> Option<String> {
    if are_in_turns(baseline, candidate) {
        return None;
    }
    let span = |findings: &Findings<'_>| {
        let started = findings.record.attempts.iter().map(|attempt| attempt.started.0);
        Some((started.clone().min()?, started.max()?))
    };
    let ((begun, ended), (other_begun, other_ended)) = (span(baseline)?, span(candidate)?);
    let why = if ended < other_begun || other_ended < begun {
        "these intervals do not include changes of the host between them"
    } else {
        "their times overlap, but no run had a partner, so these intervals do not include changes of the host between runs, nor what \
         each took from the other"
    };
    Some(format!(
        "A and B were not measured in turns: {why}; `proofload compare --run A.toml B.toml` measures two studies in turns, and so does one \
         study with both as levels of a factor"
    ))
}
