//! Ratios of two records, candidate over baseline: a row for each metric of each pair of valid points, corrected for their number.

use super::super::evaluate::{Findings, evaluate};
use super::super::metrics::outage_of;
use super::super::point::PointFindings;
use super::super::run::RunFindings;
use super::beside::{AttemptsByTime, Beside, are_at_once, are_in_turns, not_in_turns, swaps_places, told_apart};
use super::differences::{Difference, differences};
use super::duet_checks::checks_of;
use super::estimands::unlike;
use super::filter::{ComparisonFilter, keep, metrics};
use super::metric::{Better, Metric};
use super::outcome::{is_throughput, outcome};
use super::pairing::{ComparedFactor, Pair, Which, factors, pairs};
use super::query_pairs::{QueryPair, paired_times, query_pairs};
use super::same_seconds::{SameSeconds, enough, same_seconds};
use crate::error::Error;
use crate::findings::blocks::ahead;
use crate::findings::host::disturbance::{Estimand, HostUse};
use crate::metrics::QUERY_TIME;
use crate::workloads::{named_profile, profile};
use proofload_analysis::blocks::Visit;
use proofload_analysis::compare::holm;
use proofload_analysis::contrast::{Contrast, Outcome, Spread};
use proofload_analysis::duet::duet;
use proofload_analysis::quantity::{Interval, Quantity, Unit};
use proofload_model::duet_check::DuetCheck;
use proofload_model::settings::setting;
use proofload_record::Record;
use std::collections::BTreeMap;

/// Level of all intervals and verdicts.
pub(super) const LEVEL: f64 = 0.05;

/// A record with the name of its file.
#[derive(Debug, Clone)]
pub struct NamedRecord<'r> {
    /// The file as the user named it.
    pub file: String,
    /// SHA-256 of the file, hexadecimal.
    pub sha256: String,
    /// The record.
    pub record: &'r Record,
}

/// What is said of a ratio, all rows together being wrong in at most 5 of 100 comparisons of equal systems.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The candidate is better.
    Faster,
    /// The candidate is worse.
    Slower,
    /// The candidate has more of what is neither good nor bad.
    More,
    /// The candidate has less of it.
    Less,
    /// No difference was shown; that is not to say that there is none.
    NotShown,
}

impl Verdict {
    /// Its words.
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::More => "more",
            Self::Less => "less",
            Self::NotShown => "no difference shown",
        }
    }
}

/// One comparison.
#[derive(Debug, Clone)]
pub struct Row {
    /// Place of the pair in [`Comparison::pairs`].
    pub pair: usize,
    /// What is compared.
    pub metric: Metric,
    /// The baseline's value.
    pub baseline: Quantity,
    /// The candidate's value.
    pub candidate: Quantity,
    /// What the figures of the baseline and of the candidate may claim; `None` where that is not told.
    pub estimands: [Option<Estimand>; 2],
    /// Candidate over baseline with the 95 % interval of this row alone.
    pub ratio: Quantity,
    /// The contrast behind the ratio, for intervals at other levels.
    pub contrast: Contrast,
    /// Runs of the baseline and of the candidate.
    pub runs: (usize, usize),
    /// Two-sided p value of this row alone.
    pub p: f64,
    /// The same, corrected for the number of rows.
    pub p_corrected: f64,
    /// What is said.
    pub verdict: Verdict,
    /// Ratios that would have been shown with this row's errors: up to the first, and from the second. 0 and infinite where the
    /// samples do not bound them within tenfold.
    pub shown_from: (f64, f64),
}

/// A metric of a point that could not be compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// Place of the pair.
    pub pair: usize,
    /// Which metric.
    pub metric: Metric,
    /// Why.
    pub why: String,
}

/// A point that is no result in one of the records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VoidPoint {
    /// Place of the pair.
    pub pair: usize,
    /// The record in which it is no result.
    pub which: Which,
    /// The verdict's word.
    pub verdict: &'static str,
    /// Every reason.
    pub reasons: Vec<String>,
}

/// A pair of points in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PairLabel {
    /// Its levels in words, for a table whose head names the factors.
    pub label: String,
    /// Factors and levels in words, for a sentence.
    pub described: String,
    /// Setting and level as a study writes it; `None` where the setting has no value.
    pub levels: Vec<(String, Option<String>)>,
}

/// Two records side by side.
#[derive(Debug, Clone)]
pub struct Comparison<'r> {
    /// The baseline.
    pub baseline: NamedRecord<'r>,
    /// The candidate.
    pub candidate: NamedRecord<'r>,
    /// Findings of the baseline, then of the candidate.
    pub findings: (Findings<'r>, Findings<'r>),
    /// Factors of both records.
    pub factors: Vec<String>,
    /// The pairs that were asked for.
    pub pairs: Vec<PairLabel>,
    /// What differs besides.
    pub differences: Vec<Difference>,
    /// Comparisons, by metric and then by point.
    pub rows: Vec<Row>,
    /// What could not be compared.
    pub left_out: Vec<LeftOut>,
    /// Points that are void or were not run.
    pub void: Vec<VoidPoint>,
    /// Points that the other record does not have.
    pub alone: Vec<(usize, Which)>,
    /// Queries that both did, where the work is made of queries.
    pub queries: Vec<QueryPair>,
    /// What weakens the comparison.
    pub warnings: Vec<String>,
    /// Whether the two studies were measured in turns or at once.
    pub with_each_other: bool,
    /// Whether they were measured at once.
    pub(crate) at_once: bool,
    /// Whether runs at once swapped their cores.
    pub swapped_places: bool,
    /// Duets with known ratios that were measured before this one.
    pub checks: Vec<DuetCheck>,
}

impl Comparison<'_> {
    /// One of the records.
    pub(crate) fn named(&self, which: Which) -> &NamedRecord<'_> {
        match which {
            Which::Baseline => &self.baseline,
            Which::Candidate => &self.candidate,
        }
    }

    /// How the two were measured, where in turns or at once; `None` where one after the other.
    pub(crate) fn in_turns(&self) -> Option<String> {
        if let Some(row) = self.rows.iter().find(|row| row.contrast.spread == Spread::AtOnce) {
            let places = if self.swapped_places {
                "that swapped places"
            } else {
                "that did not swap places, whose worth is in the ratio"
            };
            return Some(format!(
                "Both were measured at the same time, in {} runs each {places}: throughput was compared over the same seconds.",
                row.runs.0
            ));
        }
        let blocks = self.rows.iter().filter(|row| row.contrast.spread == Spread::InsideBlocks).map(|row| row.runs.0);
        let blocks = blocks.max()?;
        let all = self.rows.iter().all(|row| self.alternated(row));
        let which = if all { "each ratio was" } else { "ratios other than those that the warnings name were" };
        let how = if self.at_once { "at the same time" } else { "in turns" };
        Some(format!(
            "Both were measured {how}: {which} formed within {blocks} repetitions, in which both had the same neighbours."
        ))
    }

    /// Whether the runs behind a row alternated, or were at once.
    pub fn alternated(&self, row: &Row) -> bool {
        alternated(row.contrast.spread, self.with_each_other)
    }

    /// What a pair is called.
    pub fn label(&self, pair: usize) -> &str {
        self.pairs.get(pair).map_or("", |pair| pair.label.as_str())
    }

    /// What a pair is called in a sentence.
    pub(crate) fn described(&self, pair: usize) -> &str {
        self.pairs.get(pair).map_or("", |pair| pair.described.as_str())
    }

    /// Metrics that were compared, in order, each with the places of its rows.
    pub(crate) fn by_metric(&self) -> Vec<(&Metric, Vec<usize>)> {
        let mut metrics: Vec<(&Metric, Vec<usize>)> = Vec::new();
        for (place, row) in self.rows.iter().enumerate() {
            match metrics.iter_mut().find(|(known, _)| known.key == row.metric.key) {
                Some((_, places)) => places.push(place),
                None => metrics.push((&row.metric, vec![place])),
            }
        }
        metrics
    }
}

/// Tells whether runs alternated, or were at once, from the spread behind a ratio and how the two studies were measured.
pub(super) fn alternated(spread: Spread, with_each_other: bool) -> bool {
    match spread {
        Spread::InsideBlocks | Spread::AtOnce => true,
        Spread::Ranks | Spread::AcrossPairs => with_each_other,
        Spread::BetweenRuns | Spread::OfTheOther | Spread::WithinWindows => false,
    }
}

/// Compares. The error says why nothing can be compared, or what was asked for in vain.
pub fn compare<'r>(
    baseline: NamedRecord<'r>,
    candidate: NamedRecord<'r>,
    chosen: &ComparisonFilter,
) -> Result<Comparison<'r>, Error> {
    for named in [&baseline, &candidate] {
        if named.record.plan.points.is_empty() {
            return Err(Error::new(format!("the plan of {} has no point; was its creation interrupted?", named.file)));
        }
    }
    let findings = (evaluate(baseline.record), evaluate(candidate.record));
    let (ours, theirs) = (&findings.0, &findings.1);
    same_workload(ours, theirs)?;
    let metrics = metrics(chosen, ours, theirs)?;
    let factors = factors(ours.factors.iter().chain(&theirs.factors));
    same_profile(&factors, ours, theirs)?;
    let mut pairs = pairs(&factors, ours, theirs);
    keep(&mut pairs, chosen)?;
    let differences = differences(&factors, &pairs, ours, theirs);
    let in_turns = are_in_turns(ours, theirs);
    let all = AttemptsByTime::of([ours.record, theirs.record]);
    let of_pair = |pair: &Pair<'_>| Beside::of((ours, pair.baseline?), (theirs, pair.candidate?), &all);
    let beside: Vec<Option<Beside>> = pairs.iter().map(of_pair).collect();
    let (rows, left_out) = rows(&metrics, (&pairs, &beside), ours, theirs);
    let queries = query_pairs(&pairs, ours, theirs);
    let void = void(&pairs, in_turns);
    let alone = alone(&pairs);
    let mut warnings = warnings(&rows, &pairs, ours, theirs);
    let is_compared = |pair: usize| {
        rows.iter().any(|row: &Row| row.pair == pair) || left_out.iter().any(|left: &LeftOut| left.pair == pair)
    };
    warnings.extend(told_apart(&pairs, &beside, is_compared));
    if let Some(profile) = named_profile(&ours.record.study.settings) {
        warnings.insert(0, format!("both have the profile {profile}: figures and ratios hold only within it"));
    }
    if baseline.sha256 == candidate.sha256 {
        warnings.insert(0, "both files have the same bytes: a record is compared with itself".to_owned());
    } else {
        warnings.extend(not_in_turns(ours, theirs));
    }
    let swapped_places = [ours, theirs].into_iter().all(swaps_places);
    let checks = checks_of([ours.record, theirs.record]);
    let text = |value: &Option<proofload_model::settings::Value>| value.as_ref().map(ToString::to_string);
    let told = |pair: &Pair<'_>| {
        let levels = pair.levels.iter().map(|(setting, value)| (setting.clone(), text(value))).collect();
        PairLabel { label: pair.label.clone(), described: pair.described(), levels }
    };
    let pairs = pairs.iter().map(told).collect();
    let factors = factors.into_iter().map(|factor| factor.setting).collect();
    Ok(Comparison {
        baseline,
        candidate,
        factors,
        pairs,
        differences,
        rows,
        left_out,
        void,
        alone,
        queries,
        warnings,
        with_each_other: in_turns,
        at_once: are_at_once(ours, theirs),
        swapped_places,
        checks,
        findings,
    })
}

fn same_workload(baseline: &Findings<'_>, candidate: &Findings<'_>) -> Result<(), Error> {
    let kind =
        |findings: &Findings<'_>| findings.record.study.settings.text(setting::WORKLOAD_KIND).unwrap_or("?").to_owned();
    let (ours, theirs) = (kind(baseline), kind(candidate));
    if ours == theirs {
        return Ok(());
    }
    Err(Error::new(format!(
        "the baseline's workload is {ours}, the candidate's is {theirs}: their figures are not comparable"
    )))
}

/// Two profiles do not do the same work. Where departures are a factor of either record, points are paired by them.
fn same_profile(factors: &[ComparedFactor], baseline: &Findings<'_>, candidate: &Findings<'_>) -> Result<(), Error> {
    let of = |findings: &Findings<'_>| {
        let mut settings = findings.record.study.settings.clone();
        settings.0.retain(|path, _| !factors.iter().any(|factor| factor.covers(path)));
        profile(&settings)
    };
    match (of(baseline), of(candidate)) {
        (Some(ours), Some(theirs)) if ours != theirs => Err(Error::new(format!(
            "the baseline's profile is {ours}, the candidate's is {theirs}: figures hold only within their profile; \
             to measure the effect of departures, run one study with workload.departures as its factor"
        ))),
        _ => Ok(()),
    }
}

/// All comparisons, corrected together.
fn rows(
    metrics: &[Metric],
    (pairs, beside): (&[Pair<'_>], &[Option<Beside>]),
    baseline: &Findings<'_>,
    candidate: &Findings<'_>,
) -> (Vec<Row>, Vec<LeftOut>) {
    let (mut rows, mut left_out) = (Vec::new(), Vec::new());
    let in_turns = are_in_turns(baseline, candidate);
    for metric in metrics {
        for (index, (pair, beside)) in pairs.iter().zip(beside).enumerate() {
            let (Some(ours), Some(theirs)) = (pair.baseline, pair.candidate) else { continue };
            if ![ours, theirs].into_iter().all(|point| is_comparable(point, in_turns)) {
                continue;
            }
            match row(metric, index, [(baseline, ours), (candidate, theirs)], beside.as_ref()) {
                Ok(row) => rows.push(row),
                Err(why) => left_out.push(LeftOut { pair: index, metric: metric.clone(), why }),
            }
        }
    }
    correct(&mut rows);
    (rows, left_out)
}

/// Whether a point may be compared: it is valid, or it was measured in turns with its partner and counts inside repetitions.
fn is_comparable(point: &PointFindings, in_turns: bool) -> bool {
    point.verdict.is_valid() || (in_turns && point.counts_inside_repetitions())
}

/// A point in its record.
pub(super) type Side<'s, 'r> = (&'s Findings<'r>, &'s PointFindings);

fn row(
    metric: &Metric,
    pair: usize,
    [baseline_side, candidate_side]: [Side<'_, '_>; 2],
    beside: Option<&Beside>,
) -> Result<Row, String> {
    let of = |(findings, point): Side<'_, '_>, letter: &str| {
        let outcome = outcome(findings, point, &metric.key);
        outcome.and_then(|outcome| Ok((outcome, point.metric(&metric.key)?))).map_err(|why| format!("{letter}: {why}"))
    };
    let (ours, baseline) = of(baseline_side, "A")?;
    let (theirs, candidate) = of(candidate_side, "B")?;
    let beside = beside.filter(|beside| beside.is_enough());
    // What still moves displaces throughput; of other metrics it does not say which way.
    let moves = is_throughput(baseline_side.0.workload, &metric.key);
    let ahead = |run: &RunFindings| if moves { ahead(run) } else { 0.0 };
    let in_turns =
        beside.and_then(|beside| turns((baseline_side.1, &ours), (candidate_side.1, &theirs), beside, ahead));
    let same_seconds = beside.and_then(|beside| same_seconds(&metric.key, baseline_side, candidate_side, beside));
    let some_void = [baseline_side, candidate_side].iter().any(|(_, point)| point.has_void_visits());
    let contrast = match (&same_seconds, &in_turns) {
        (Some(seconds), _) => {
            enough(seconds)?;
            Contrast::at_once(duet(&seconds.iter().map(SameSeconds::run).collect::<Vec<_>>())?)
        }
        (None, _) if outage_of(&metric.key).is_some() && !some_void => Contrast::of_ranks(&theirs.runs, &ours.runs)?,
        (None, Some((ours, theirs))) if outage_of(&metric.key).is_none() => Contrast::in_turns(theirs, ours)?,
        // Queries are pairs, so that one run a side can be compared.
        (None, None) if metric.key == QUERY_TIME && !some_void && ours.runs.len().min(theirs.runs.len()) < 2 => {
            let (ours, theirs) = paired_times(baseline_side, candidate_side)?;
            Contrast::of_pairs(&theirs, &ours)?
        }
        (None, None) if [baseline_side, candidate_side].iter().all(|(_, point)| point.verdict.is_valid()) => {
            Contrast::new(&theirs, &ours)?
        }
        (None, _) => {
            return Err("throughput moved within runs or a run is void, and no ratio of this metric inside at least two shared blocks is known"
                .to_owned());
        }
    };
    let (low, high) = contrast.bounds(LEVEL);
    if !(low > 0.0 && high.is_finite()) {
        let what = if metric.key.latency().is_some() { "values lie beyond the percentile" } else { "runs or seconds" };
        return Err(format!("too few {what} for an interval of the ratio"));
    }
    let in_ratio = match (contrast.spread, beside) {
        (Spread::InsideBlocks | Spread::AtOnce, Some(beside)) => Some(beside.together.len()),
        _ => None,
    };
    let runs = in_ratio.map_or((ours.runs.len(), theirs.runs.len()), |runs| (runs, runs));
    let seconds: u64 = same_seconds.iter().flatten().map(|run| run.baseline.len() as u64).sum();
    let (method, n) = formed(contrast.spread, runs, (baseline.n() + candidate.n(), seconds));
    let ratio = Quantity::new(contrast.ratio(), Unit::RATIO, n, Interval::known(low, high, method));
    let p = contrast.p();
    Ok(Row {
        pair,
        metric: metric.clone(),
        baseline,
        candidate,
        estimands: [baseline_side, candidate_side].map(|(_, point)| point.estimand.clone()),
        ratio,
        contrast,
        runs,
        p,
        p_corrected: p,
        verdict: Verdict::NotShown,
        shown_from: (0.0, f64::INFINITY),
    })
}

/// How an interval was formed, and from how many values: of these runs a side, or of the samples of both, or of the seconds that both have.
const fn formed(spread: Spread, runs: (usize, usize), (samples, seconds): (u64, u64)) -> (&'static str, u64) {
    let all = (runs.0 + runs.1) as u64;
    match spread {
        Spread::WithinWindows => ("log ratios of blocks of seconds within the two windows", samples),
        Spread::InsideBlocks => ("log ratios within blocks, Student's t", runs.0 as u64),
        Spread::AcrossPairs => {
            ("log ratios of the queries, Student's t: spread between queries, not between runs", samples)
        }
        Spread::Ranks => ("Hodges–Lehmann over drills, Mann–Whitney test", all),
        Spread::AtOnce => {
            ("ratio over the same seconds, corrected for their autocorrelation, or spread between runs", seconds)
        }
        Spread::BetweenRuns | Spread::OfTheOther => ("Student's t over runs, of logarithms", all),
    }
}

/// The runs of both sides by block, without the repetitions in which they were not beside each other.
fn turns(
    ours: (&PointFindings, &Outcome),
    theirs: (&PointFindings, &Outcome),
    beside: &Beside,
    ahead: impl Fn(&RunFindings) -> f64,
) -> Option<(Vec<Visit>, Vec<Visit>)> {
    let sides = [ours, theirs];
    if sides.iter().any(|(point, outcome)| point.runs.len() != outcome.runs.len()) {
        return None;
    }
    let by_block = |(point, outcome): &(&PointFindings, &Outcome)| -> BTreeMap<u32, Visit> {
        let runs = point.runs.iter().zip(&outcome.runs);
        let visit = |(run, value): (&RunFindings, &f64)| {
            // Of two at once each is the other's neighbour: what the one takes follows from how fast it is.
            let taken = run.host.as_ref().and_then(HostUse::taken_beside_limits).filter(|_| !beside.at_once);
            (run.run.repetition, Visit { throughput: *value, taken, ahead: ahead(run) })
        };
        runs.filter(|(run, _)| beside.together.contains(&run.run.repetition)).map(visit).collect()
    };
    let [ours, theirs] = sides.each_ref().map(by_block);
    (ours.len() > 1 && ours.keys().eq(theirs.keys()))
        .then(|| (ours.into_values().collect(), theirs.into_values().collect()))
}

/// The largest ratio that is printed as one that would have been shown.
const MOST_SHOWN: f64 = 10.0;

/// Holm's correction over all rows, and what follows from it. A row that was not shown would have been next in the order:
/// it would have been held against the level divided by the number of rows not shown.
fn correct(rows: &mut [Row]) {
    let corrected = holm(&rows.iter().map(|row| row.p).collect::<Vec<_>>());
    let open = corrected.iter().filter(|p| **p > LEVEL).count();
    for (row, p) in rows.iter_mut().zip(corrected) {
        row.p_corrected = p;
        row.verdict = if p > LEVEL { Verdict::NotShown } else { verdict(row.metric.better, row.ratio.value() > 1.0) };
        row.shown_from = bounded(row.contrast.shown_from(LEVEL / open.max(1) as f64));
    }
}

/// Replaces bounds beyond [`MOST_SHOWN`] by 0 and infinity: the windows were too short for any, and the digits say nothing.
fn bounded((below, above): (f64, f64)) -> (f64, f64) {
    if above <= MOST_SHOWN { (below, above) } else { (0.0, f64::INFINITY) }
}

const fn verdict(better: Better, more: bool) -> Verdict {
    match (better, more) {
        (Better::Higher, true) | (Better::Lower, false) => Verdict::Faster,
        (Better::Higher, false) | (Better::Lower, true) => Verdict::Slower,
        (Better::Neither, true) => Verdict::More,
        (Better::Neither, false) => Verdict::Less,
    }
}

fn void(pairs: &[Pair<'_>], in_turns: bool) -> Vec<VoidPoint> {
    let mut void = Vec::new();
    for (index, pair) in pairs.iter().enumerate() {
        for (which, point) in [(Which::Baseline, pair.baseline), (Which::Candidate, pair.candidate)] {
            if let Some(point) = point.filter(|point| !is_comparable(point, in_turns)) {
                let verdict = &point.verdict;
                void.push(VoidPoint { pair: index, which, verdict: verdict.word(), reasons: verdict.reasons() });
            }
        }
    }
    void
}

fn alone(pairs: &[Pair<'_>]) -> Vec<(usize, Which)> {
    let which = |(index, pair): (usize, &Pair<'_>)| match (pair.baseline, pair.candidate) {
        (Some(_), None) => Some((index, Which::Baseline)),
        (None, Some(_)) => Some((index, Which::Candidate)),
        _ => None,
    };
    pairs.iter().enumerate().filter_map(which).collect()
}

/// Points that moved within their runs, of two records measured in turns.
fn moved(pairs: &[Pair<'_>], baseline: &Findings<'_>, candidate: &Findings<'_>) -> Option<String> {
    let sides = pairs.iter().flat_map(|pair| [(Which::Baseline, pair.baseline), (Which::Candidate, pair.candidate)]);
    let moved = sides.filter_map(|(which, point)| Some((which, point?))).filter(|(_, point)| point.only_moved());
    let names: Vec<String> = moved.map(|(which, point)| format!("{} in {}", point.label(), which.letter())).collect();
    (are_in_turns(baseline, candidate) && !names.is_empty()).then(|| {
        format!(
            "throughput moved within runs of {}: their figures are not results on their own, only the ratios formed \
             side by side",
            names.join(", ")
        )
    })
}

fn warnings(rows: &[Row], pairs: &[Pair<'_>], baseline: &Findings<'_>, candidate: &Findings<'_>) -> Vec<String> {
    let mut warnings = Vec::new();
    // Pairs of queries need no spread between runs.
    let by_run = |row: &&Row| row.contrast.spread != Spread::AcrossPairs;
    let single = |of: fn(&Row) -> usize| rows.iter().filter(by_run).any(|row| of(row) == 1);
    let singles = match (single(|row| row.runs.0), single(|row| row.runs.1)) {
        (true, true) => Some("A and B have points with a single run"),
        (true, false) => Some("A has points with a single run"),
        (false, true) => Some("B has points with a single run"),
        (false, false) => None,
    };
    if let Some(who) = singles {
        let unseen = if rows.iter().any(|row| row.contrast.spread == Spread::WithinWindows) {
            "the spread between runs is unknown there: intervals are too narrow, and the next run may not show the \
             same differences"
        } else {
            "its spread between runs is assumed to equal the other record's"
        };
        warnings.push(format!("{who}: {unseen}; set study.repetitions to 3 or more to measure it"));
    }
    warnings.extend(unlike(rows, pairs, are_in_turns(baseline, candidate)));
    warnings.extend(moved(pairs, baseline, candidate));
    if are_at_once(baseline, candidate) {
        let shared = "both shared the host while they were measured: only ratios are results";
        let unchecked = "contention may pull a ratio towards 1; to see how far, measure with --prove, which runs a duet of \
                         the baseline with itself and one with a known difference first";
        let is_checked = !checks_of([baseline.record, candidate.record]).is_empty();
        warnings.push(if is_checked { shared.to_owned() } else { format!("{shared}, and {unchecked}") });
    }
    for (which, findings) in [(Which::Baseline, baseline), (Which::Candidate, candidate)] {
        let letter = which.letter();
        if findings.sentinels.as_ref().is_some_and(|sentinels| sentinels.as_ref().is_ok_and(|found| found.drifted)) {
            warnings
                .push(format!("the sentinel points of {letter} drifted: the machine changed while it was measured"));
        }
        if findings.record.being_written {
            warnings.push(format!(
                "{letter} is still being written: the comparison covers what it contained when it \
                was read"
            ));
        }
    }
    warnings
}
