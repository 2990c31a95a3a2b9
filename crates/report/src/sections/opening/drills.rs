//! A study of drills: how long writes were away after each fault, and whether acknowledged writes were lost.

use super::topic::{Topic, TopicText};
use crate::blocks::{Inline, Prose, prose};
use crate::findings::drills::{DrilledPoint, drilled};
use crate::findings::{Findings, PointFindings};
use crate::sections::drills as own;
use proofload_analysis::quantity::Quantity;
use proofload_model::drill::{FaultAsked, FaultKind, FaultTarget, ProbeKind};

pub(super) const TOPIC: Topic = Topic { applies: |findings| !faults(findings).is_empty(), tell, figure: Some(figure) };

/// Points with a fault and at least one drill that counts, with the median time without writes, the longest first.
fn faults<'f>(findings: &'f Findings<'_>) -> Vec<(&'f PointFindings, DrilledPoint<'f>, Quantity)> {
    let one = |one: DrilledPoint<'f>| {
        let away = one.median(|drill| Some(drill.outage(ProbeKind::Write)))?;
        let point = findings.points.iter().find(|point| point.id == one.point)?;
        one.fault.is_some().then_some((point, one, away))
    };
    let mut all: Vec<_> = drilled(findings).into_iter().filter_map(one).collect();
    all.sort_by(|a, b| b.2.value().total_cmp(&a.2.value()));
    all
}

fn lost(point: &DrilledPoint<'_>) -> u64 {
    point.count(|ledger| ledger.lost + ledger.lost_as_warned)
}

fn acknowledged(point: &DrilledPoint<'_>) -> u64 {
    point.count(|ledger| ledger.kept + ledger.lost + ledger.lost_as_warned)
}

fn tell(findings: &Findings<'_>) -> TopicText {
    let faults = faults(findings);
    let drills: usize = faults.iter().map(|(_, point, _)| point.drills.len()).sum();
    TopicText {
        answer: [away(&faults), losses(&faults)].concat(),
        held: held(&faults),
        broke: broke(&faults),
        why: Prose::new(),
        sure: prose![
            drills,
            if drills == 1 { " drill at " } else { " drills at " },
            faults.len(),
            if faults.len() == 1 { " point; " } else { " points; " },
            "times are their medians. "
        ],
        next: fewer_than_59(&faults),
    }
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

fn away(faults: &[(&PointFindings, DrilledPoint<'_>, Quantity)]) -> Prose {
    let (Some((worst, drilled, longest)), Some((best, least, shortest))) = (faults.first(), faults.last()) else {
        return Prose::new();
    };
    if worst.id == best.id {
        return prose![
            "After ",
            after(worst, drilled),
            " writes were unavailable for ",
            Inline::brief(longest, "s"),
            ". "
        ];
    }
    // Medians of each fault: a drill may have taken longer than the longest of them.
    let (least_of_more, most_of_more) = if faults.len() > 2 { (", the least,", ", the most") } else { ("", "") };
    prose![
        "Writes were unavailable for ",
        Inline::brief(shortest, "s"),
        " after ",
        after(best, least),
        least_of_more,
        " and for ",
        Inline::brief(longest, "s"),
        " after ",
        after(worst, drilled),
        most_of_more,
        ". "
    ]
}

fn losses(faults: &[(&PointFindings, DrilledPoint<'_>, Quantity)]) -> Prose {
    let all: u64 = faults.iter().map(|(_, point, _)| acknowledged(point)).sum();
    match faults.iter().map(|(_, point, _)| lost(point)).sum::<u64>() {
        0 => prose!["None of ", all, " acknowledged writes were lost. "],
        1 => prose!["1 of ", all, " acknowledged writes were lost. "],
        lost => prose![lost, " of ", all, " acknowledged writes were lost. "],
    }
}

/// Points that lost nothing.
fn held(faults: &[(&PointFindings, DrilledPoint<'_>, Quantity)]) -> Prose {
    let kept: Vec<String> = faults
        .iter()
        .filter(|(_, point, _)| lost(point) == 0)
        .map(|(point, drilled, _)| after(point, drilled))
        .collect();
    match kept.len() {
        0 => prose!["No point kept every acknowledged write. "],
        all if all == faults.len() => prose!["Every acknowledged write, after every fault. "],
        _ => prose!["Every acknowledged write after ", kept.join("; "), ". "],
    }
}

/// What was lost, else the longest time without writes.
fn broke(faults: &[(&PointFindings, DrilledPoint<'_>, Quantity)]) -> Prose {
    let worst = faults.iter().max_by_key(|(_, point, _)| lost(point)).filter(|(_, point, _)| lost(point) > 0);
    if let Some((point, drilled, _)) = worst {
        return prose![
            "Acknowledged writes: ",
            lost(drilled),
            " of ",
            acknowledged(drilled),
            " were lost after ",
            after(point, drilled),
            if drilled.promises_none_lost {
                ", although its mode promises no loss. "
            } else {
                ", as its mode allows. "
            }
        ];
    }
    let Some((point, drilled, away)) = faults.first() else { return Prose::new() };
    prose!["Service: writes were unavailable for ", Inline::ranged(away, "s"), " after ", after(point, drilled), ". "]
}

/// A tail needs more drills than a median.
fn fewer_than_59(faults: &[(&PointFindings, DrilledPoint<'_>, Quantity)]) -> Prose {
    let fewest = faults.iter().map(|(_, point, _)| point.drills.len()).min().unwrap_or(0);
    if fewest >= 59 {
        return Prose::new();
    }
    prose!["A 95th percentile needs 59 drills per point: raise ", Inline::Code("study.repetitions".to_owned()), ". "]
}

/// Tells whether the first screen draws the drills.
pub(in crate::sections) fn draws_drills(findings: &Findings<'_>) -> bool {
    findings.valid().next().is_some() && !faults(findings).is_empty()
}

fn figure(findings: &Findings<'_>) -> Option<crate::blocks::Figure> {
    let points = drilled(findings);
    points.iter().any(|point| !point.drills.is_empty()).then(|| own::dots(findings, &points))
}
