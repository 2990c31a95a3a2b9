//! What protection buys: how long the database was away after each fault, and which acknowledged writes it lost.

use super::section::{Section, always};
use crate::blocks::{
    Axis, Band, BandKind, Block, Cell, Chart, Column, Figure, Inline, Panel, Prose, Role, Sample, Series, Table, prose,
};
use crate::findings::drills::{DrillOf, DrilledPoint, drilled, is_after};
use crate::findings::{Findings, PointFindings};
use crate::numbers::short;
use proofload_analysis::order_statistics::none_of;
use proofload_analysis::quantity::Quantity;
use proofload_model::drill::{Outage, ProbeKind, drill};

/// The section.
pub(super) const SECTION: Section =
    Section { id: "drills", title: "What protection buys", level: 3, numbered: true, needs: always, render };

/// Time that is drawn before and after a fault, seconds.
const DRAWN_BEFORE: f64 = 3.0;
const DRAWN_AFTER: f64 = 12.0;

fn render(findings: &Findings<'_>) -> Vec<Block> {
    let points = drilled(findings);
    if points.is_empty() {
        return Vec::new();
    }
    let mut blocks = vec![
        Block::Paragraph(answer(findings)),
        Block::Table(outages(findings, &points)),
        Block::Table(ledgers(findings, &points)),
    ];
    if points.iter().any(|point| !point.drills.is_empty()) {
        blocks.push(Block::Figure(Box::new(dots(findings, &points))));
        blocks.push(Block::Figure(Box::new(time_lines(findings, &points))));
    }
    blocks.push(Block::Paragraph(method(findings)));
    blocks
}

/// The answer: per fault the time without service and the acknowledged writes that were lost; empty in a study without drills.
pub(super) fn answer(findings: &Findings<'_>) -> Prose {
    let points = drilled(findings);
    points.iter().filter_map(|point| sentence(findings, point)).flatten().collect()
}

fn sentence(findings: &Findings<'_>, point: &DrilledPoint<'_>) -> Option<Prose> {
    let label = of_point(findings, point)?.label();
    let away = point.median(|drill| Some(drill.outage(ProbeKind::Write)))?;
    let by_hand = point.fault.is_some_and(|fault| fault.takes_the_primary());
    let (lost, acknowledged) = (point.count(|ledger| ledger.lost), point.count(|ledger| ledger.kept + ledger.lost));
    let mut text = prose![Inline::Strong(prose![label]), ": writes were away for ", (&away, "s")];
    text.extend(prose![if by_hand { " without detection" } else { "" }, ", "]);
    text.extend(match lost {
        0 => prose!["and none of ", acknowledged, " acknowledged writes was lost. "],
        _ => prose!["and ", lost, " of ", acknowledged, " acknowledged writes were lost. "],
    });
    Some(text)
}

fn of_point<'a>(findings: &'a Findings<'_>, drilled: &DrilledPoint<'_>) -> Option<&'a PointFindings> {
    findings.points.iter().find(|point| point.id == drilled.point)
}

fn label(findings: &Findings<'_>, point: &DrilledPoint<'_>) -> String {
    of_point(findings, point).map(PointFindings::label).unwrap_or_default()
}

fn outages(findings: &Findings<'_>, points: &[DrilledPoint<'_>]) -> Table {
    let row = |point: &DrilledPoint<'_>| {
        let cell = |value: Option<Quantity>| value.map_or(Cell::Empty, Cell::Quantity);
        let longest = point.drills.iter().map(|drill| drill.outage(ProbeKind::Write)).fold(0.0, f64::max);
        let recovered = point.drills.iter().filter(|drill| drill.recovery().is_some()).count();
        let back = match point.drills.len() - recovered {
            0 => cell(point.median(DrillOf::recovery)),
            never => Cell::Gap(format!("{never} never recovered")),
        };
        vec![
            Cell::datum(label(findings, point)),
            Cell::datum(drills_of(point)),
            cell(point.median(|drill| Some(drill.outage(ProbeKind::Write)))),
            if point.drills.is_empty() { Cell::Empty } else { Cell::datum(short(longest)) },
            cell(point.median(|drill| Some(drill.outage(ProbeKind::Read)))),
            cell(point.median(DrillOf::promotion)),
            back,
        ]
    };
    Table {
        id: "table-outages",
        caption: prose!["Time without service, medians over drills with 95 % confidence intervals."],
        columns: vec![
            Column::words("Point"),
            Column::words("Drills"),
            Column::quantities("Writes away", "s"),
            Column::quantities("Longest", "s"),
            Column::quantities("Reads away", "s"),
            Column::quantities("Promotion", "s"),
            Column::quantities("Users back", "s"),
        ],
        rows: points.iter().map(row).collect(),
        note: prose![
            "Away: from the due time of the first operation that was not acknowledged to the end of the first of many in a row that were; every outage \
             that ends after the fault counts. Promotion: from the order until the standby took writes. Users back: from the fault to the first second \
             with 95 % of their throughput, which ten seconds then keep."
        ],
    }
}

fn drills_of(point: &DrilledPoint<'_>) -> String {
    match point.void {
        0 => point.drills.len().to_string(),
        void => format!("{}, {void} void", point.drills.len()),
    }
}

fn ledgers(findings: &Findings<'_>, points: &[DrilledPoint<'_>]) -> Table {
    let row = |point: &DrilledPoint<'_>| {
        let count = |of: fn(&proofload_model::drill::Ledger) -> u64| Cell::Count(point.count(of));
        vec![
            Cell::datum(label(findings, point)),
            Cell::Prose(prose![if point.promises_none_lost { "no loss" } else { "nothing" }]),
            count(|ledger| ledger.kept + ledger.lost + ledger.lost_as_warned),
            count(|ledger| ledger.lost),
            count(|ledger| ledger.lost_as_warned),
            count(|ledger| ledger.unknown_present),
            count(|ledger| ledger.unknown_absent),
            count(|ledger| ledger.seen_and_lost),
            bound(point),
        ]
    };
    Table {
        id: "table-ledger",
        caption: prose!["Writes of the prober, each looked for by its number after its drill."],
        columns: vec![
            Column::words("Point"),
            Column::words("Promised"),
            Column::quantities("Acknowledged", ""),
            Column::quantities("Lost", ""),
            Column::quantities("Lost, warned", ""),
            Column::quantities("Unknown, there", ""),
            Column::quantities("Unknown, not there", ""),
            Column::quantities("Seen and lost", ""),
            Column::words("A drill that loses"),
        ],
        rows: points.iter().map(row).collect(),
        note: prose![
            "Warned: the server acknowledged with a warning. Unknown: no answer within the deadline, or the connection was lost. A drill that loses: the \
             share of drills with a loss, at most, where there was none (95 %)."
        ],
    }
}

/// How many drills lost something; where none did, the largest share that may.
fn bound(point: &DrilledPoint<'_>) -> Cell {
    let (all, losing) =
        (point.drills.len(), point.drills.iter().filter(|one| one.report.prober.ledger.lost > 0).count());
    match (all, losing) {
        (0, _) => Cell::Empty,
        (all, 0) => Cell::Prose(prose!["0 of ", all, ", at most ", short(100.0 * none_of(all)), " %"]),
        (all, losing) => Cell::Prose(prose![losing, " of ", all]),
    }
}

/// Each drill as a dot.
fn dots(findings: &Findings<'_>, points: &[DrilledPoint<'_>]) -> Figure {
    let samples = |(place, point): (usize, &DrilledPoint<'_>)| {
        let dot =
            move |drill: &DrillOf<'_>| Sample { x: place as f64, y: drill.outage(ProbeKind::Write), interval: None };
        point.drills.iter().map(dot).collect::<Vec<_>>()
    };
    let labels: Vec<String> = points.iter().map(|point| label(findings, point)).collect();
    let ticks = labels.iter().enumerate().map(|(place, label)| (place as f64, label.clone())).collect();
    let series = Series {
        name: String::new(),
        role: Role::Dots(0),
        samples: points.iter().enumerate().flat_map(samples).collect(),
    };
    let rows: Vec<Vec<Cell>> = points
        .iter()
        .flat_map(|point| point.drills.iter().map(move |drill| (point, drill)))
        .map(|(point, drill)| {
            let outage = |kind| Cell::datum(short(drill.outage(kind)));
            let cells = [ProbeKind::Write, ProbeKind::Read, ProbeKind::Connect].map(outage);
            [Cell::datum(label(findings, point)), Cell::datum(drill.attempt.to_string())]
                .into_iter()
                .chain(cells)
                .collect()
        })
        .collect();
    let alt = points.iter().filter_map(|point| in_words(findings, point)).collect::<Vec<_>>().join(" ");
    Figure {
        id: "figure-outages",
        caption: prose!["Time without writes, each drill a dot."],
        alt: format!("Dots of outages by fault. {alt}"),
        chart: Chart::Plot(Panel {
            title: String::new(),
            alt: String::new(),
            x: Axis { ticks: Some(ticks), ..Axis::linear("", "") },
            y: Axis::linear("Writes away", "s"),
            bands: Vec::new(),
            rules: Vec::new(),
            series: vec![series],
        }),
        data: Table {
            id: "data-outages",
            caption: prose!["Time without service of each drill."],
            columns: vec![
                Column::words("Point"),
                Column::words("Attempt"),
                Column::quantities("Writes", "s"),
                Column::quantities("Reads", "s"),
                Column::quantities("Connections", "s"),
            ],
            rows,
            note: Prose::new(),
        },
    }
}

fn in_words(findings: &Findings<'_>, point: &DrilledPoint<'_>) -> Option<String> {
    let away: Vec<f64> = point.drills.iter().map(|drill| drill.outage(ProbeKind::Write)).collect();
    let (least, most) = (away.iter().copied().reduce(f64::min)?, away.iter().copied().reduce(f64::max)?);
    Some(format!("{}: {} to {} s in {} drills.", label(findings, point), short(least), short(most), away.len()))
}

/// The median drill of each fault, tenth by tenth.
fn time_lines(findings: &Findings<'_>, points: &[DrilledPoint<'_>]) -> Figure {
    let drawn: Vec<(String, &DrillOf<'_>)> =
        points.iter().filter_map(|point| Some((label(findings, point), point.median_drill()?))).collect();
    let panels: Vec<Panel> = drawn.iter().map(|(label, drill)| time_line(findings, label, drill)).collect();
    let alt = panels.iter().map(|panel| format!("{}: {}", panel.title, panel.alt)).collect::<Vec<_>>().join(" ");
    let row = |(label, drill): &(String, &DrillOf<'_>)| {
        let at = |seconds: Option<f64>| {
            seconds.map_or(Cell::Empty, |seconds| Cell::datum(short(seconds - drill.report.fault_at)))
        };
        let outage = write_outages(drill).into_iter().next();
        vec![
            Cell::datum(label.clone()),
            at(outage.map(|outage| outage.from.as_seconds())),
            at(drill.report.promote_asked_at),
            at(drill.report.promoted_at),
            at(drill.report.undone_at),
            at(outage.and_then(|outage| outage.to).map(|to| to.as_seconds())),
            at(drill.report.recovered_at),
        ]
    };
    Figure {
        id: "figure-drills",
        caption: prose![
            "The drill with the median outage of each fault: writes of the prober that were acknowledged, by their due times, and transactions of the \
             users. Time 0 is when the fault was found in force; the time without writes is shaded."
        ],
        alt,
        data: Table {
            id: "data-drills",
            caption: prose!["Instants of these drills, from the fault."],
            columns: vec![
                Column::words("Point"),
                Column::quantities("First write not acknowledged", "s"),
                Column::quantities("Order to promote", "s"),
                Column::quantities("Promoted", "s"),
                Column::quantities("Undone", "s"),
                Column::quantities("First write acknowledged", "s"),
                Column::quantities("Users back", "s"),
            ],
            rows: drawn.iter().map(row).collect(),
            note: Prose::new(),
        },
        chart: Chart::Panels(panels),
    }
}

fn write_outages(drill: &DrillOf<'_>) -> Vec<Outage> {
    let probe = drill.probe(ProbeKind::Write).into_iter();
    probe.flat_map(|probe| &probe.outages).filter(|outage| is_after(outage, drill.report)).copied().collect()
}

fn time_line(findings: &Findings<'_>, label: &str, drill: &DrillOf<'_>) -> Panel {
    let zero = drill.report.fault_at;
    let drawn = |x: &f64| (-DRAWN_BEFORE..=DRAWN_AFTER).contains(x);
    let tenths = drill.probe(ProbeKind::Write).map_or(&[][..], |probe| &probe.tenths);
    let writes = tenths.iter().enumerate().map(|(place, tenth)| Sample {
        x: (place as f64 + 0.5) / 10.0 - zero,
        y: f64::from(tenth.acknowledged) * 10.0,
        interval: None,
    });
    let per_second = findings.points.iter().flat_map(|point| &point.runs).find(|run| run.attempt == drill.attempt);
    let per_second = per_second.map_or(&[][..], |run| &run.per_second);
    let users = per_second.iter().enumerate().map(|(second, done)| Sample {
        x: second as f64 + 0.5 - zero,
        y: *done,
        interval: None,
    });
    let series = |name: &str, role, samples: Vec<Sample>| Series {
        name: name.to_owned(),
        role,
        samples: samples.into_iter().filter(|sample| drawn(&sample.x)).collect(),
    };
    let bands = write_outages(drill).into_iter().map(|outage| Band {
        from: outage.from.as_seconds() - zero,
        to: outage.to.map_or(DRAWN_AFTER, |to| to.as_seconds() - zero).min(DRAWN_AFTER),
        kind: BandKind::Away,
        label: "away".to_owned(),
    });
    let away = short(drill.outage(ProbeKind::Write));
    Panel {
        title: label.to_owned(),
        alt: format!(
            "Writes acknowledged and transactions per second around the fault; writes were away for {away} s."
        ),
        x: Axis { from_zero: false, up_to: Some(DRAWN_AFTER), ..Axis::linear("Time from the fault", "s") },
        y: Axis::linear("Writes, transactions", "1/s"),
        bands: bands.collect(),
        rules: Vec::new(),
        series: vec![
            series("writes", Role::Trace(0), writes.collect()),
            series("users", Role::Trace(1), users.collect()),
        ],
    }
}

/// How this was found out, and what it does not say.
fn method(findings: &Findings<'_>) -> Prose {
    let settings = &findings.record.study.settings;
    let asked = findings
        .points
        .iter()
        .find_map(|point| drill(&findings.record.plan.settings(&findings.record.study, point.id)).ok().flatten());
    let (rate, deadline) = asked.map_or((0, 0.0), |asked| (asked.prober.rate, asked.prober.deadline.as_secs_f64()));
    let after = settings.duration("drill.promote_after").unwrap_or_default().as_secs_f64();
    prose![
        "Each drill is a run of its own from the restored snapshot: load is measured, then the fault is made and found in force, and load goes on. A prober \
         beside the users makes ",
        rate,
        " writes and as many reads a second, each at its own time, and closes a connection that has not answered after ",
        short(deadline),
        " s; what a write's client was told is compared with what the database holds afterwards. Of a failed primary the standby with the most log is \
         promoted ",
        short(after),
        " s after the fault is in force: no failover manager is at work, and the time that one takes to detect a failure comes on top. Both nodes share \
         this host; a crash ends all processes of the instance and keeps what the kernel had taken to be written, so it is no loss of power."
    ]
}
