//! A study of drills: how long writes were away after each fault, and whether acknowledged writes were lost.

use super::topic::{Topic, TopicText};
use crate::blocks::{Inline, Prose, prose};
use crate::findings::drills::DrilledPoint;
use crate::findings::{Findings, PointFindings};
use crate::sections::drills as own;
use proofload_analysis::quantity::Quantity;
use proofload_model::drill::{FaultAsked, FaultKind, FaultTarget, ProbeKind};
use proofload_model::settings::setting;

pub(super) const TOPIC: Topic = Topic { applies: |findings| !faults(findings).is_empty(), tell, figure: Some(figure) };

/// A point with a fault, and the median time without writes of its drills that count.
struct FaultPoint<'f> {
    point: &'f PointFindings,
    drilled: &'f DrilledPoint<'f>,
    away: Option<Quantity>,
}

impl FaultPoint<'_> {
    /// Its fault in a sentence.
    fn after(&self) -> String {
        after(self.point, self.drilled)
    }

    /// Words behind its time without writes.
    fn detection(&self) -> &'static str {
        if self.drilled.is_without_detection() { " without detection" } else { "" }
    }
}

/// Points with a fault and a drill that counts or lost a write, the longest without writes first.
fn faults<'f>(findings: &'f Findings<'_>) -> Vec<FaultPoint<'f>> {
    let one = |drilled: &'f DrilledPoint<'f>| {
        let away = drilled.median(|drill| Some(drill.outage(ProbeKind::Write)));
        let point = findings.point(drilled.point)?;
        let is_told = drilled.fault.is_some() && (away.is_some() || drilled.lost() > 0);
        is_told.then_some(FaultPoint { point, drilled, away })
    };
    let mut all: Vec<FaultPoint<'f>> = findings.drilled.iter().filter_map(one).collect();
    let length = |fault: &FaultPoint<'_>| fault.away.as_ref().map_or(f64::NEG_INFINITY, Quantity::value);
    all.sort_by(|a, b| length(b).total_cmp(&length(a)));
    all
}

fn tell(findings: &Findings<'_>) -> TopicText {
    let faults = faults(findings);
    let drills: usize = faults.iter().map(|fault| fault.drilled.drills.len()).sum();
    let is_lossy = faults.iter().any(|fault| fault.drilled.lost() > 0);
    let (away, losses) = (away(&faults), losses(&faults));
    TopicText {
        answer: if is_lossy { [losses, away].concat() } else { [away, losses].concat() },
        held: held(&faults),
        broke: broke(&faults),
        why: Prose::new(),
        sure: prose! {
            drills, if drills == 1 { " drill at " } else { " drills at " }, faults.len(),
            if faults.len() == 1 { " point; " } else { " points; " }, "times are their medians. ",
            bounded(is_lossy, &faults)
        },
        next: fewer_than_59(&faults),
    }
}

/// What the bound of no loss is a bound of; empty where something was lost.
fn bounded(is_lossy: bool, faults: &[FaultPoint<'_>]) -> String {
    let fewest = fewest_drills(faults);
    if is_lossy || fewest == 0 {
        return String::new();
    }
    let drills = if fewest == 1 { "drill" } else { "drills" };
    format!("The bound of losses is that of {fewest} {drills}, with 95 % confidence. ")
}

/// Drills of the point with the fewest.
fn fewest_drills(faults: &[FaultPoint<'_>]) -> usize {
    faults.iter().map(|fault| fault.drilled.drills.len()).min().unwrap_or(0)
}

/// Losses of a study none of whose points is valid; empty where nothing was lost.
pub(super) fn tell_losses(findings: &Findings<'_>) -> TopicText {
    let faults = faults(findings);
    let is_lossy = faults.iter().any(|fault| fault.drilled.lost() > 0);
    TopicText { answer: if is_lossy { losses(&faults) } else { Prose::new() }, ..TopicText::default() }
}

/// The fault of a point in a sentence; the point's label where other levels tell points apart too.
fn after(point: &PointFindings, drilled: &DrilledPoint<'_>) -> String {
    match drilled.fault {
        Some(fault) if point.levels.len() <= 1 => in_words(fault),
        _ => point.label(),
    }
}

fn in_words(FaultAsked { kind, target }: FaultAsked) -> String {
    let target = match target {
        FaultTarget::Primary => "the primary",
        FaultTarget::Standby => "standby-1",
        FaultTarget::Link => "link-1",
        FaultTarget::Clients => "the clients' link",
        FaultTarget::Arbiter => "the arbiter",
    };
    let what = match kind {
        FaultKind::Switchover => return "a switchover".to_owned(),
        FaultKind::ForcedFailover => return "a forced failover".to_owned(),
        FaultKind::Crash => "a crash of",
        FaultKind::Kill => "a kill of",
        FaultKind::Stop => "a stop of",
        FaultKind::Freeze => "a freeze of",
        FaultKind::Partition => "a partition of",
        FaultKind::PartitionToStandby => "a partition towards the standby on",
        FaultKind::PartitionToPrimary => "a partition towards the primary on",
        FaultKind::Reset => "a reset of",
        FaultKind::Latency => "added latency on",
        FaultKind::Bandwidth => "reduced bandwidth on",
        FaultKind::ReplayPause => "a replay pause on",
        FaultKind::SlowDisk => "a slow disk of",
        FaultKind::DiskStall => "a disk stall of",
        FaultKind::FullDisk => "a full disk of",
    };
    format!("{what} {target}")
}

fn away(faults: &[FaultPoint<'_>]) -> Prose {
    let timed: Vec<(&FaultPoint<'_>, &Quantity)> =
        faults.iter().filter_map(|fault| Some((fault, fault.away.as_ref()?))).collect();
    let (Some((worst, longest)), Some((best, shortest))) = (timed.first(), timed.last()) else {
        return Prose::new();
    };
    if worst.point.id == best.point.id {
        return prose! {
            "After ", worst.after(), " writes were unavailable for ", Inline::brief(longest, "s"), worst.detection(),
            ". "
        };
    }
    // Medians of each fault: a drill may have taken longer than the longest of them.
    let (least_of_more, most_of_more) = if timed.len() > 2 { (", the least,", ", the most") } else { ("", "") };
    prose! {
        "Writes were unavailable for ", Inline::brief(shortest, "s"), best.detection(), " after ", best.after(),
        least_of_more, " and for ", Inline::brief(longest, "s"), worst.detection(), " after ", worst.after(),
        most_of_more, ". "
    }
}

/// What was lost, else the bound of none.
fn losses(faults: &[FaultPoint<'_>]) -> Prose {
    let points = || faults.iter().map(|fault| fault.drilled);
    let acknowledged: u64 = points().map(DrilledPoint::acknowledged).sum();
    let lost: u64 = points().map(DrilledPoint::lost).sum();
    if lost == 0 {
        let bound = format!(" (per drill at most {} %)", own::most_that_lose(fewest_drills(faults)));
        return prose!["None of ", acknowledged, " acknowledged writes were lost", bound, ". "];
    }
    let mut text = prose![lost, " of ", acknowledged, " acknowledged writes were lost"];
    let broken: u64 = points().map(DrilledPoint::lost_against_promise).sum();
    if broken > 0 {
        text.extend(prose![", ", broken, " of them although the mode promises no loss"]);
    }
    text.extend(prose![". "]);
    text
}

/// Points that lost nothing.
fn held(faults: &[FaultPoint<'_>]) -> Prose {
    let kept = faults.iter().filter(|fault| fault.drilled.lost() == 0);
    let kept: Vec<String> = kept.map(FaultPoint::after).collect();
    match kept.len() {
        0 => prose!["No point kept every acknowledged write. "],
        all if all == faults.len() => prose!["Every acknowledged write, after every fault. "],
        _ => prose!["Every acknowledged write after ", kept.join("; "), ". "],
    }
}

/// What was lost, against a promise before all, else the longest time without writes.
fn broke(faults: &[FaultPoint<'_>]) -> Prose {
    let gravest = |fault: &&FaultPoint<'_>| (fault.drilled.lost_against_promise(), fault.drilled.lost());
    let worst = faults.iter().max_by_key(gravest).filter(|fault| fault.drilled.lost() > 0);
    if let Some(worst) = worst {
        let mut text = prose! {
            "Acknowledged writes: ", worst.drilled.lost(), " of ", worst.drilled.acknowledged(), " were lost after ",
            worst.after()
        };
        text.extend(excuse(worst.drilled));
        return text;
    }
    let longest = faults.first().and_then(|fault| Some((fault, fault.away.as_ref()?)));
    let Some((fault, away)) = longest else { return Prose::new() };
    prose! {
        "Service: writes were unavailable for ", Inline::ranged(away, "s"), fault.detection(), " after ", fault.after(),
        ". "
    }
}

/// How the losses of a point stand to the promise of its mode.
fn excuse(point: &DrilledPoint<'_>) -> Prose {
    let (lost, broken) = (point.lost(), point.lost_against_promise());
    if broken == lost {
        return prose![", although its mode promises no loss. "];
    }
    if broken > 0 {
        return prose![", ", broken, " of them although its mode promises no loss. "];
    }
    match (point.promises_none_lost, point.lost_with_notice() == lost) {
        (false, _) => prose![", as its mode allows. "],
        (true, true) => prose![", each with a warning or while commits did not wait as its mode requires. "],
        (true, false) => prose![", which its mode does not exclude where too few standbys answer. "],
    }
}

/// A tail needs more drills than a median.
fn fewer_than_59(faults: &[FaultPoint<'_>]) -> Prose {
    if fewest_drills(faults) >= 59 {
        return Prose::new();
    }
    prose![
        "A 95th percentile needs 59 drills per point: raise ",
        Inline::Code(setting::STUDY_REPETITIONS.to_owned()),
        ". "
    ]
}

/// Tells whether the first screen draws the drills.
pub(in crate::sections) fn draws_drills(findings: &Findings<'_>) -> bool {
    let is_topic = findings.valid().next().is_some() && !faults(findings).is_empty();
    is_topic && findings.drilled.iter().any(|point| !point.drills.is_empty())
}

fn figure(findings: &Findings<'_>) -> Option<crate::blocks::Figure> {
    let points = &findings.drilled;
    points.iter().any(|point| !point.drills.is_empty()).then(|| own::dots(findings, points))
}
