//! What protection buys: how long the database was away after each fault, and which acknowledged writes it lost.

pub(super) mod costs;
pub(super) mod losses;
pub(super) mod time_lines;

use super::section::{Section, SectionPlace, always};
use crate::blocks::{
    Axis, Block, Cell, Chart, Figure, Inline, Panel, Prose, Role, Sample, Series, Table, TableOf, prose,
};
use crate::findings::Findings;
use crate::findings::drills::{DrillOf, DrilledPoint, LATEST_PROBE_MS};
use crate::numbers::{counted, short};
use proofload_analysis::order_statistics::{median, mixture, none_of, p95};
use proofload_analysis::quantity::Unit;
use proofload_analysis::recovery::{BACK_FOR, MEAN_FROM, NOISY_FROM};
use proofload_model::drill::{FaultKind, ProbeKind, drill};
use proofload_model::facts::replication;
use proofload_model::fault_strength::FaultStrength;
use proofload_model::replication::ReplicationMode;
use proofload_model::settings::setting;
use proofload_model::time::Offset;
use std::collections::BTreeMap;

/// The section.
pub(super) const SECTION: Section = Section {
    id: "drills",
    title: "What protection buys",
    level: 3,
    place: SectionPlace::Paper,
    needs: always,
    render,
};

/// Share of all transactions beyond which the prober's own work is told to be in the users' figures.
const SMALL_SHARE: f64 = 0.1;

/// Unit of seconds.
const SECONDS: Unit = Unit::named("s");
/// Settings of failover managers by which the time to detect a failure is to be understood, told also where the study does not ask for them.
const TOLD: &[&str] = &[
    "ttl",
    "loop_wait",
    "retry_timeout",
    "primary_start_timeout",
    "synchronous_mode",
    "health_check_period",
    "node_considered_unhealthy_timeout",
    "primary_demote_timeout",
];

fn render(findings: &Findings<'_>) -> Vec<Block> {
    let points = &findings.drilled;
    if points.is_empty() {
        return Vec::new();
    }
    let mut blocks = vec![
        Block::Paragraph(answer(findings)),
        Block::Table(outages(findings, points)),
        Block::Table(ledgers(findings, points)),
    ];
    blocks.extend(losses::table(findings).map(Block::Table));
    blocks.extend(remarks(findings, points).map(Block::Paragraph));
    if points.iter().any(|point| !point.drills.is_empty()) {
        if !super::opening::draws_drills(findings) {
            blocks.push(Block::Figure(Box::new(dots(findings, points))));
        }
        blocks.extend(costs::block(findings, points));
        blocks.push(Block::Figure(Box::new(time_lines::figure(findings, points))));
    }
    blocks.push(Block::Paragraph(method(findings)));
    blocks
}

/// The answer: per fault the time without service and the acknowledged writes that were lost; empty in a study without drills.
pub(super) fn answer(findings: &Findings<'_>) -> Prose {
    let points = &findings.drilled;
    points.iter().filter_map(|point| sentence(findings, point)).flatten().collect()
}

fn sentence(findings: &Findings<'_>, point: &DrilledPoint<'_>) -> Option<Prose> {
    let label = findings.point(point.point)?.label();
    let away = point.median(|drill| Some(drill.outage(ProbeKind::Write)));
    if away.is_none() && point.lost() == 0 {
        return None;
    }
    let mut text = prose![Inline::Strong(prose![label]), ": "];
    text.extend(lost(point));
    let Some(away) = away else {
        text.extend(prose!["no drill is valid, so its outage is not stated. "]);
        return Some(text);
    };
    if point.strength != FaultStrength::Whole {
        text.extend(prose![format!("at {} ", point.strength)]);
    }
    text.extend(prose!["writes were unavailable for ", (&away, "s")]);
    text.extend(match (point.manager, point.replaces_the_primary) {
        (Some(manager), true) => prose![format!(" with failover by {manager}")],
        _ if point.is_without_detection() => prose![" without detection"],
        _ => Prose::new(),
    });
    text.extend(match point.lost() {
        0 => {
            let bound = at_most(point.drills.len());
            prose![", and none of ", point.acknowledged(), " acknowledged writes were lost", bound]
        }
        _ => Prose::new(),
    });
    text.extend(prose![". "]);
    Some(text)
}

/// Acknowledged writes that were lost, with what excuses them; empty where none was.
fn lost(point: &DrilledPoint<'_>) -> Prose {
    if point.lost() == 0 {
        return Prose::new();
    }
    let mut text = prose![point.lost(), " of ", point.acknowledged(), " acknowledged writes were lost"];
    let (noticed, broken) = (point.lost_with_notice(), point.lost_against_promise());
    if noticed > 0 {
        text.extend(prose![", ", noticed, " of them with a warning or while unprotected"]);
    }
    if broken > 0 {
        text.extend(prose![", ", broken, " of them although the mode promises no loss"]);
    }
    text.extend(prose!["; "]);
    text
}

/// The bound of drills without a loss, in brackets.
fn at_most(drills: usize) -> String {
    format!(" (0 of {drills} drills: at most {} % of drills lose any, 95 % confidence)", most_that_lose(drills))
}

/// Share of drills that lose a write at most where none of some did, %, with 95 % confidence.
pub(super) fn most_that_lose(drills: usize) -> String {
    short(100.0 * none_of(drills))
}

fn outages(findings: &Findings<'_>, points: &[DrilledPoint<'_>]) -> Table {
    TableOf::new(
        "table-outages",
        prose!["Time without service: medians over drills with 95 % confidence intervals."],
        points,
    )
    .words("Point", |point| findings.label(point.point))
    .words("Drills", |point| drills_of(point))
    .quantities("Write outage", "s", |point| point.median(|drill| Some(drill.outage(ProbeKind::Write))))
    .quantities("Longest", "s", |point| away_of(point).into_iter().reduce(f64::max).map(short))
    .quantities("95th percentile", "s", |point| p95(&away_of(point)).map(short))
    .quantities("Read outage", "s", |point| point.median(|drill| Some(drill.outage(ProbeKind::Read))))
    .quantities("Promotion", "s", |point| point.median(DrillOf::promotion))
    .quantities("Users recovered", "s", |point| recovered(point))
    .quantities("Degraded", "s", |point| {
        let degraded: Vec<f64> = point.aftermath.iter().map(|(_, seconds)| *seconds as f64).collect();
        median(&degraded, SECONDS)
    })
    .quantities("Protected again", "s", |point| protected_again(point))
    .note(prose![what_times_mean()])
}

/// What the columns of the outages mean.
fn what_times_mean() -> String {
    let [mean, noisy] = [MEAN_FROM, NOISY_FROM].map(|share| short(100.0 * share));
    format!(
        "Outage: from the due time of the first unacknowledged operation to the end of the first of many acknowledged \
         in a row; every outage that ends after the fault counts. A drill is void if the prober was more than \
         {LATEST_PROBE_MS} ms late (99th percentile of a kind of operation over the whole run); how late it was at the \
         ends of an outage alone is not recorded. 95th percentile: needs 59 drills or more; with fewer, \
         all may lie below it. Promotion: from the request, or from the detection by a failover manager, until the \
         standby accepted writes. Users recovered: from the fault to the first second from which every {BACK_FOR} \
         seconds in a row had a mean of {mean} % of the earlier throughput, or of the least that {BACK_FOR} seconds had \
         before the fault if that is less, but not less than {noisy} %. Degraded: seconds until then with acknowledged \
         writes, but less than 95 % of the throughput or three times the earlier 99th percentile. Protected again: \
         until the remaining standbys, or the former primary as a standby, were in sync with the primary; not asked \
         where no other instance was left or brought back."
    )
}

/// Time until users had their throughput back, or in how many drills that never came.
fn recovered(point: &DrilledPoint<'_>) -> Cell {
    match point.drills.iter().filter(|drill| drill.recovery().is_none()).count() {
        0 => Cell::from(point.median(DrillOf::recovery)),
        never => Cell::Gap(format!("{never} never recovered")),
    }
}

/// Outages of writes, one for each drill.
fn away_of(point: &DrilledPoint<'_>) -> Vec<f64> {
    point.drills.iter().map(|drill| drill.outage(ProbeKind::Write)).collect()
}

/// Time until enough standbys were in sync again, or in how many drills that never came; a word where nobody looked.
fn protected_again(point: &DrilledPoint<'_>) -> Cell {
    if point.fault.is_none() || point.drills.is_empty() {
        return Cell::Empty;
    }
    let asked: Vec<&DrillOf<'_>> = point.drills.iter().filter(|drill| point.asks_for_protection(drill)).collect();
    match asked.iter().filter(|drill| drill.protected_again().is_none()).count() {
        0 if asked.is_empty() => Cell::Prose(prose!["not asked"]),
        0 => point.median(DrillOf::protected_again).map_or(Cell::Empty, Cell::Quantity),
        never => Cell::Gap(format!("never in {never}")),
    }
}

/// What was done for a failed primary to follow the new one; nothing where it was left.
fn how_it_came_back(findings: &Findings<'_>) -> Prose {
    let points = &findings.drilled;
    let is_brought_back = |is_managed: bool| {
        let mut drills = points.iter().flat_map(|point| &point.drills).map(|drill| drill.report);
        drills.any(|report| report.rejoin_asked_at.is_some() && report.manager.is_some() == is_managed)
    };
    let mut text = Prose::new();
    if is_brought_back(false) {
        text.extend(prose![
            "Once users had recovered, the failed primary was rewound and followed the new one while the load \
             continued. "
        ]);
    }
    if is_brought_back(true) {
        text.extend(prose![
            "Once users had recovered, the program of the failover manager was started again on the failed node, as on \
             a host that comes back, and took the failed primary back while the load continued. "
        ]);
    }
    text
}

/// Why nobody looked when the primary of a point was protected again; `None` where somebody did, or nothing could protect it.
fn why_not_asked(point: &DrilledPoint<'_>) -> Option<&'static str> {
    let is_asked = point.drills.iter().any(|drill| point.asks_for_protection(drill));
    if is_asked || point.drills.is_empty() || point.fault.is_none() || point.mode == ReplicationMode::None {
        return None;
    }
    Some(match point.manager {
        Some(_) => {
            ": the failed instance was not brought back, so whether the new primary was protected again was not asked. "
        }
        None => {
            ": the promoted standby had no standby of its own and none was brought back, so whether it was protected \
             again was not asked. "
        }
    })
}

/// What a reader must know before a figure is believed: two groups of outages, ledgers that nobody read, time without protection, losses
/// that cannot be excluded.
fn remarks(findings: &Findings<'_>, points: &[DrilledPoint<'_>]) -> Option<Prose> {
    let mut told = Prose::new();
    for point in points {
        let label = findings.label(point.point);
        if let Some([low, high]) = mixture(&away_of(point)) {
            told.extend(prose![
                Inline::Strong(prose![label.clone()]),
                ": outages fall into two groups, ",
                low.2,
                " of ",
                short(low.0),
                " to ",
                short(low.1),
                " s and ",
                high.2,
                " of ",
                short(high.0),
                " to ",
                short(high.1),
                " s, so the median of all is of little use. "
            ]);
        }
        if point.unread > 0 {
            told.extend(prose![
                Inline::Strong(prose![label.clone()]),
                ": of ",
                counted(point.unread, "drill"),
                " the ledger was not read, so losses are unknown there and are not in the counts. "
            ]);
        }
        if let Some(why) = why_not_asked(point) {
            told.extend(prose![Inline::Strong(prose![label.clone()]), why]);
        }
        let unprotected: f64 = point.aftermath.iter().map(|(unprotected, _)| unprotected.seconds()).sum();
        let acknowledged: u64 = point.aftermath.iter().map(|(unprotected, _)| unprotected.acknowledged).sum();
        if acknowledged > 0 {
            told.extend(prose![
                Inline::Strong(prose![label.clone()]),
                ": ",
                acknowledged,
                " writes were acknowledged in ",
                short(unprotected),
                " s while commits did not wait for a standby. "
            ]);
        }
        let open = point.drills.iter().filter_map(|drill| drill.report.reach).filter(|reach| !reach.holds_all).count();
        if open > 0 && point.mode.waits() {
            let is_forced =
                |drill: &DrillOf<'_>| drill.report.fault.is_some_and(|one| one.kind == FaultKind::ForcedFailover);
            let why = if point.drills.iter().any(is_forced) {
                " a standby was forced to take over with what it had, so the mode does not exclude a loss. "
            } else {
                " too few standbys answered before the promotion, so the mode alone does not exclude a loss. "
            };
            told.extend(prose![Inline::Strong(prose![label]), ": in ", counted(open, "drill"), why]);
        }
    }
    (!told.is_empty()).then_some(told)
}

fn drills_of(point: &DrilledPoint<'_>) -> String {
    match point.void {
        0 => point.drills.len().to_string(),
        void => format!("{}, {void} void", point.drills.len()),
    }
}

fn ledgers(findings: &Findings<'_>, points: &[DrilledPoint<'_>]) -> Table {
    let caption = prose!["Writes of the prober; after the drill each was looked up by its number."];
    TableOf::new("table-ledger", caption, points)
        .words("Point", |point| findings.label(point.point))
        .words("Promised", |point| prose![if point.promises_none_lost { "no loss" } else { "nothing" }])
        .quantities("Acknowledged", "", |point| point.acknowledged())
        .quantities("Lost", "", |point| point.lost().saturating_sub(point.lost_with_notice()))
        .quantities("Lost, warned or unprotected", "", |point| point.lost_with_notice())
        .words("Oldest lost", |point| point.oldest_lost().map(seconds))
        .quantities("Unknown, found", "", |point| point.count(|ledger| ledger.unknown_present))
        .quantities("Unknown, not found", "", |point| point.count(|ledger| ledger.unknown_absent))
        .quantities("Read, then lost", "", |point| point.count(|ledger| ledger.seen_and_lost))
        .quantities("Stale reads", "", |point| point.count(|ledger| ledger.stale_reads))
        .words("Drills with loss", |point| bound(point))
        .note(prose![
            "Writes of all finished drills count, of void ones too: a loss against the promise makes its drill void. \
             Warned: the server acknowledged with a warning. Unprotected: commits did not wait as the mode requires. \
             Oldest lost: how long before the fault the first of the lost writes was acknowledged, at most. Unknown: \
             no answer within the deadline, or the connection was lost. Drills with loss: their share; if there were \
             none, its upper limit (95 %) from the drills that count."
        ])
}

/// A time in seconds, or in milliseconds below one.
pub(super) fn seconds(time: f64) -> String {
    if time.abs() < 1.0 { format!("{} ms", short((1e3 * time).round())) } else { format!("{} s", short(time)) }
}

/// How many drills lost something; where none did, the largest share that may.
fn bound(point: &DrilledPoint<'_>) -> Cell {
    match (point.drills.len(), point.losing()) {
        (0, 0) => Cell::Empty,
        (all, 0) => Cell::Prose(prose!["0 of ", all, ", at most ", short(100.0 * none_of(all)), " %"]),
        (_, losing) => Cell::Prose(prose![losing, " of ", point.ledgers.len()]),
    }
}

/// Outages as dots, one for each drill; behind them each outage by itself.
pub(super) fn dots(findings: &Findings<'_>, points: &[DrilledPoint<'_>]) -> Figure {
    let samples = |(place, point): (usize, &DrilledPoint<'_>)| {
        let dot =
            move |drill: &DrillOf<'_>| Sample { x: place as f64, y: drill.outage(ProbeKind::Write), interval: None };
        point.drills.iter().map(dot).collect::<Vec<_>>()
    };
    let labels: Vec<String> = points.iter().map(|point| findings.label(point.point)).collect();
    let ticks = labels.iter().enumerate().map(|(place, label)| (place as f64, label.clone())).collect();
    let series = Series {
        name: String::new(),
        role: Role::Dots(0),
        samples: points.iter().enumerate().flat_map(samples).collect(),
    };
    let rows = points.iter().flat_map(|point| point.drills.iter().map(move |drill| (point, drill)));
    let outage = |drill: &DrillOf<'_>, kind| short(drill.outage(kind));
    let data = TableOf::new("data-outages", prose!["Time without service of each drill."], rows)
        .words("Point", |(point, _)| findings.label(point.point))
        .words("Attempt", |(_, drill)| drill.attempt.to_string())
        .quantities("Wait before the fault", "s", |(_, drill)| short(drill.report.phase))
        .quantities("Writes", "s", |(_, drill)| outage(drill, ProbeKind::Write))
        .quantities("Reads", "s", |(_, drill)| outage(drill, ProbeKind::Read))
        .quantities("Connections", "s", |(_, drill)| outage(drill, ProbeKind::Connect))
        .words("Each outage of writes, from the fault (s)", |(_, drill)| each_outage(drill))
        .table();
    let alt = points.iter().filter_map(|point| in_words(findings, point)).collect::<Vec<_>>().join(" ");
    Figure {
        id: "figure-outages",
        caption: prose!["Write outages; each dot is a drill."],
        alt: format!("Dot chart of outages by fault. {alt}"),
        chart: Chart::Plot(Panel::of(
            Axis { ticks: Some(ticks), ..Axis::linear("", "") },
            Axis::linear("Write outage", "s"),
            vec![series],
        )),
        data,
    }
}

fn in_words(findings: &Findings<'_>, point: &DrilledPoint<'_>) -> Option<String> {
    let away: Vec<f64> = point.drills.iter().map(|drill| drill.outage(ProbeKind::Write)).collect();
    let (least, most) = (away.iter().copied().reduce(f64::min)?, away.iter().copied().reduce(f64::max)?);
    Some(format!(
        "{}: {} to {} s in {}.",
        findings.label(point.point),
        short(least),
        short(most),
        counted(away.len(), "drill")
    ))
}

/// Every outage of writes of a drill, in seconds from the fault; one before it was found in force begins below 0.
fn each_outage(drill: &DrillOf<'_>) -> String {
    let from_fault = |at: Offset| short(at.as_seconds() - drill.report.fault_at);
    let told = drill.outages(ProbeKind::Write).map(|outage| {
        let to = outage.to.map_or_else(|| "the end".to_owned(), from_fault);
        format!("{} to {to}", from_fault(outage.from))
    });
    told.collect::<Vec<_>>().join("; ")
}

/// How this was found out, and what it does not say.
fn method(findings: &Findings<'_>) -> Prose {
    let settings = &findings.record.study.settings;
    let asked = findings
        .points
        .iter()
        .find_map(|point| drill(&findings.record.plan.settings(&findings.record.study, point.id)).ok().flatten());
    let (rate, deadline) = asked.map_or((0, 0.0), |asked| (asked.prober.rate, asked.prober.deadline.as_secs_f64()));
    let phase = asked.map_or(0.0, |asked| asked.phase.as_secs_f64());
    let after = settings.duration(setting::DRILL_PROMOTE_AFTER).unwrap_or_default().as_secs_f64();
    let mut text = prose![
        "Each drill is a separate run from the restored snapshot. The load is measured, then the fault is injected \
         and confirmed in force while the load continues. In addition to the users, a prober makes ",
        rate,
        " writes and as many reads per second at fixed times",
        calm_pace(findings, rate)
    ];
    text.extend(prober_share(findings));
    text.extend(prose![
        "It closes a connection that has not answered after ",
        short(deadline),
        " s. Afterwards the answer to each write is compared with the content of the database. "
    ]);
    if phase > 0.0 {
        text.extend(prose![
            "Before its fault each drill waits for a random time of up to ",
            short(phase),
            " s, drawn from the seed of the study, so that faults hit every phase of periodic failure detection. "
        ]);
    }
    if findings.drilled.iter().any(DrilledPoint::is_without_detection) {
        text.extend(prose![
            "Without a failover manager, the standby with the most log is promoted ",
            short(after),
            " s after a fault of the primary is in force; the detection time of a failover manager would add to this. "
        ]);
    }
    text.extend(how_it_came_back(findings));
    for (title, settings) in managers(findings) {
        text.extend(prose![
            title,
            " itself runs both instances; it is not imitated, and a crash also ends its processes on the node. Users \
             and prober ask it for the primary. Detection is the first reading, every 50 ms, in which it named no \
             leader or another one. In force: ",
            settings,
            ". "
        ]);
    }
    let where_they_are = if super::facts::standby_hosts::apart(findings).is_empty() {
        "Both nodes share this host"
    } else {
        "Each standby has its own host"
    };
    text.extend(prose![
        where_they_are,
        "; a crash ends all processes of the instance but keeps the kernel's page cache, so it is not a power loss."
    ]);
    text
}

/// End of the sentence on the prober's rate: the calm pace, where the record tells one.
fn calm_pace(findings: &Findings<'_>, rate: u32) -> String {
    let points = &findings.drilled;
    let step =
        points.iter().flat_map(|point| &point.drills).map(|drill| drill.report.prober.ledger.paces.calm_step).max();
    match step {
        Some(step) if step > 1 => format!(", and {} per second while nothing is about to fail. ", rate / step),
        _ => ". ".to_owned(),
    }
}

/// Share of the prober in the transactions before the faults, and what follows from a large one.
fn prober_share(findings: &Findings<'_>) -> Prose {
    let points = &findings.drilled;
    let shares = || points.iter().flat_map(|point| &point.drills).filter_map(DrillOf::prober_share);
    let (Some(least), Some(most)) = (shares().reduce(f64::min), shares().reduce(f64::max)) else {
        return Prose::new();
    };
    let percent = |share: f64| (100.0 * share).round() as u64;
    let mut text = match (percent(least), percent(most)) {
        (least, most) if least == most => prose!["Its writes were ", most, " % of all transactions"],
        (least, most) => prose!["Its writes were ", least, " to ", most, " % of all transactions"],
    };
    let is_faulted = points.iter().flat_map(|point| &point.drills).any(|drill| drill.report.fault.is_some());
    if is_faulted {
        text.extend(prose![" before the faults"]);
    }
    text.extend(match most > SMALL_SHARE {
        true => prose![", so the users' figures are those of a database that also carries this load. "],
        false => prose![". "],
    });
    text
}

/// Failover managers of the study, with their settings as they were read back.
fn managers(findings: &Findings<'_>) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for attempt in &findings.record.attempts {
        let Some(title) = attempt.facts.iter().find(|fact| replication::MANAGER.is_of(fact)) else { continue };
        let own = |fact: &proofload_model::samples::Fact| {
            let name = replication::MANAGER_SETTING.part(fact)?;
            let is_told = fact.requested.is_some() || TOLD.contains(&name);
            is_told.then(|| format!("{name} {}", fact.effective.as_deref().unwrap_or("unknown")))
        };
        let mut settings: Vec<String> = attempt.facts.iter().filter_map(own).collect();
        settings.sort_unstable();
        settings.dedup();
        found.insert(title.effective.clone().unwrap_or_default(), settings.join(", "));
    }
    found
}
