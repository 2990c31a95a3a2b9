//! The answer: what each point with standbys keeps, whether the forecast explains it, and whether a single thread is the reason.

use super::modes::title;
use super::{slopes, two_ratios};
use crate::blocks::{Inline, Prose, prose};
use crate::findings::replication::forecast::Beside;
use crate::findings::replication::{ReplicatedPoint, replicated, users};
use crate::findings::{Findings, PointFindings};
use proofload_model::replication::ReplicationMode;
use std::collections::BTreeSet;

/// The answer; empty in a study without standbys.
pub(in crate::sections) fn answer(findings: &Findings<'_>) -> Prose {
    let points = replicated(findings);
    if points.is_empty() {
        return Prose::new();
    }
    let kept = if findings.searches.is_empty() { kept(findings, &points) } else { two_ratios::answer(findings) };
    [kept, reasons(findings, &points)].concat()
}

/// Why modes keep what they keep: what a commit waits for, the busiest single thread, to what throughput answers, locks.
pub(in crate::sections) fn reasons(findings: &Findings<'_>, points: &[ReplicatedPoint]) -> Prose {
    let (explained, serial) = (explained(findings, points), serial(findings, points));
    [explained, serial, slopes::answer(findings, points), locks(findings, points)].concat()
}

fn kept(findings: &Findings<'_>, points: &[ReplicatedPoint]) -> Prose {
    let known = points.iter().filter_map(|one| Some((findings.point(one.point)?, one.kept.as_ref()?.as_ref().ok()?)));
    let mut text = Prose::new();
    for (number, (point, kept)) in known.enumerate() {
        let lead = if number == 0 { "Of the throughput without standbys, " } else { ", " };
        let verb = if number == 0 { " keeps " } else { " " };
        text.extend(prose![lead, Inline::Strong(prose![point.label()]), verb, (kept, "%")]);
    }
    let users: BTreeSet<u64> = points.iter().filter_map(|one| users(findings, one.point)).collect();
    if let (false, [users]) = (text.is_empty(), users.into_iter().collect::<Vec<_>>().as_slice()) {
        text.extend(prose![", at ", *users, if *users == 1 { " virtual user" } else { " virtual users" }, " each"]);
    }
    if !text.is_empty() {
        text.extend(prose![". "]);
        text.extend(moved(findings));
    }
    text
}

/// What points that moved are good for.
fn moved(findings: &Findings<'_>) -> Prose {
    let moved: Vec<String> =
        findings.points.iter().filter(|point| point.only_moved()).map(PointFindings::label).collect();
    if moved.is_empty() {
        return Prose::new();
    }
    prose![
        "Throughput moved within runs of ",
        moved.join(", "),
        ": their figures are not results on their own, only the ratios formed within repetitions. "
    ]
}

/// Whether wire and flush explain what modes added: those of which it is known, told apart.
fn explained(findings: &Findings<'_>, points: &[ReplicatedPoint]) -> Prose {
    let known = points.iter().filter_map(|one| {
        let forecast = one.forecast.as_ref()?;
        let beside: &Beside = forecast.beside.as_ref().ok()?;
        Some((findings.point(one.point)?.label(), beside.is_explained(&forecast.added), beside.excess.value() > 0.0))
    });
    let known: Vec<(String, bool, bool)> = known.collect();
    let of = |wanted: &dyn Fn(bool, bool) -> bool| -> String {
        let labels = known.iter().filter(|(_, explained, above)| wanted(*explained, *above));
        labels.map(|(label, ..)| label.as_str()).collect::<Vec<_>>().join(", ")
    };
    let mut text = Prose::new();
    let explained = of(&|explained, _| explained);
    if !explained.is_empty() {
        text.extend(prose![
            "The calibrated wait of a commit explains the additional time of transactions at ",
            explained,
            ". "
        ]);
    }
    let more = of(&|explained, above| !explained && above);
    if !more.is_empty() {
        text.extend(prose!["Transactions took longer than that at ", more, ": there is a queue. "]);
    }
    let less = of(&|explained, above| !explained && !above);
    if !less.is_empty() {
        text.extend(prose!["Transactions took less than that at ", less, ": they queue less for shared resources. "]);
    }
    text
}

/// The role with a single thread that was busiest at any point with standbys.
fn serial(findings: &Findings<'_>, points: &[ReplicatedPoint]) -> Prose {
    let with_standbys = points.iter().filter(|one| one.mode != ReplicationMode::None);
    let all = with_standbys.filter_map(|one| Some((findings.point(one.point)?, one.busiest_single()?)));
    let busiest = all.max_by(|(_, (_, a)), (_, (_, b))| a.busy().total_cmp(&b.busy()));
    let Some((point, (node, role))) = busiest else { return Prose::new() };
    let lead = match (role.is_serial_limit(), role.is_short_of_cpu()) {
        (true, false) => "One thread is at its limit: ",
        (true, true) => "One thread always has work and waits for CPU time: ",
        _ => "No role with a single thread is at its limit; the busiest is ",
    };
    let mut text = prose![
        lead,
        title(&role.role).to_owned(),
        " of ",
        node.to_string(),
        " at ",
        point.label(),
        ", with ",
        (&role.cpu, "%"),
        " of a core"
    ];
    if let Some(waited) = role.waited.as_ref().filter(|_| role.is_short_of_cpu()) {
        text.extend(prose![" and ", (waited, "%"), " of the time waiting for a core"]);
    }
    text.extend(prose![". "]);
    text
}

/// Points at which waits for locks bound the throughput.
fn locks(findings: &Findings<'_>, points: &[ReplicatedPoint]) -> Prose {
    let bound = |one: &&ReplicatedPoint| one.split.as_ref().is_ok_and(|split| split.is_lock_bound());
    let bound: Vec<String> =
        points.iter().filter(bound).filter_map(|one| Some(findings.point(one.point)?.label())).collect();
    if bound.is_empty() {
        return Prose::new();
    }
    prose![
        Inline::Strong(prose!["Lock-bound"]),
        " at ",
        bound.join(", "),
        ": lock waits are more than a tenth of a transaction's time, because locks are held during the wait for the \
         standby. "
    ]
}
