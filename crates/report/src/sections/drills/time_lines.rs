//! The median drill of each fault as a time line: what was acknowledged tenth by tenth, the instants of the drill, and where nothing is known.

use crate::blocks::{
    Axis, Band, BandKind, Cell, Chart, Figure, Panel, Prose, Role, Sample, Series, Table, cells, columns, prose,
};
use crate::findings::Findings;
use crate::findings::drills::protection::{unprotected, unread};
use crate::findings::drills::{DrillOf, DrilledPoint, is_after};
use crate::numbers::short;
use proofload_model::drill::{Ledger, Outage, ProbeKind, ProbeTenth};
use proofload_model::settings::Settings;
use proofload_record::Attempt;

/// Instants that are marked in a figure, the most telling first.
const MARKED: &[&str] =
    &["in force", "promoted", "undone", "protected again", "users recovered", "detected by the manager"];

/// Share of a panel's width that a name takes.
const NAME_WIDTH: f64 = 0.2;

/// Time that is drawn before and, at least, after a fault, seconds.
const DRAWN_BEFORE: f64 = 3.0;
const DRAWN_AFTER: f64 = 12.0;

/// The median drill of each fault, tenth by tenth.
pub(crate) fn figure(findings: &Findings<'_>, points: &[DrilledPoint<'_>]) -> Figure {
    let drawn: Vec<(String, &DrillOf<'_>)> =
        points.iter().filter_map(|point| Some((findings.label(point.point), point.median_drill()?))).collect();
    let panels: Vec<Panel> = drawn.iter().map(|(label, drill)| time_line(findings, label, drill)).collect();
    let alt = panels.iter().map(|panel| format!("{}: {}", panel.title, panel.alt)).collect::<Vec<_>>().join(" ");
    let is_paced = drawn.iter().any(|(_, drill)| drill.report.prober.ledger.paces.calm_step > 1);
    let is_hatched = panels.iter().flat_map(|panel| &panel.bands).any(|band| band.kind == BandKind::Absent);
    let row = |(label, drill): &(String, &DrillOf<'_>)| {
        let at = |seconds: Option<f64>| {
            seconds.map_or(Cell::Empty, |seconds| Cell::datum(short(seconds - drill.report.fault_at)))
        };
        let outage = write_outages(drill).into_iter().next();
        cells! {
            label.clone(), at(outage.map(|outage| outage.from.as_seconds())), at(drill.report.detected_at),
            at(drill.report.promote_asked_at), at(drill.report.promoted_at), at(drill.report.undone_at),
            at(drill.report.rejoin_asked_at), at(drill.report.rejoined_at),
            at(outage.and_then(|outage| outage.to).map(|to| to.as_seconds())), at(drill.report.protected_again_at),
            at(drill.report.recovered_at.map(|at| at.max(drill.report.fault_at)))
        }
    };
    Figure {
        id: "figure-drills",
        caption: prose![
            "The drill with the median outage of each fault: acknowledged writes of the prober by due time, and \
             transactions of the users. At time 0 the fault was confirmed in force; the write outage is shaded. ",
            if is_hatched { "Hatched: it is unknown whether commits waited for a standby. " } else { "" },
            if is_paced {
                "Writes are drawn as the rate of the full pace, times the share that was acknowledged of those due. "
            } else {
                ""
            },
            "The data contain all instants."
        ],
        alt,
        data: Table {
            id: "data-drills",
            caption: prose!["Instants of these drills, counted from the fault."],
            columns: columns! {
                words("Point"), quantities("First write not acknowledged", "s"), quantities("Detected", "s"),
                quantities("Promotion requested", "s"), quantities("Promoted", "s"), quantities("Undone", "s"),
                quantities("Told to rejoin", "s"), quantities("Rejoined", "s"),
                quantities("First write acknowledged", "s"), quantities("Protected again", "s"),
                quantities("Users recovered", "s")
            },
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

/// How long a drill is drawn: some seconds longer than writes were away.
fn drawn_after(drill: &DrillOf<'_>) -> f64 {
    let ends = write_outages(drill).into_iter().filter_map(|outage| outage.to);
    let last = ends.map(|to| to.as_seconds() - drill.report.fault_at).fold(0.0, f64::max);
    DRAWN_AFTER.max((last + DRAWN_BEFORE).ceil())
}

fn time_line(findings: &Findings<'_>, label: &str, drill: &DrillOf<'_>) -> Panel {
    let zero = drill.report.fault_at;
    let point = findings.finished(drill.run).and_then(|attempt| findings.point(attempt.run.point));
    let per_second = point.and_then(|point| point.runs.iter().find(|run| run.attempt == drill.attempt));
    let per_second = per_second.map_or(&[][..], |run| &run.per_second);
    // The load ends within its last second.
    let drawn_after = drawn_after(drill).min((per_second.len() as f64 - 1.0 - zero).max(DRAWN_BEFORE));
    let drawn = |x: &f64| (-DRAWN_BEFORE..=drawn_after).contains(x);
    let tenths = drill.probe(ProbeKind::Write).map_or(&[][..], |probe| &probe.tenths);
    let full_rate = full_rate(&drill.report.prober.ledger);
    // Of a tenth without a due write nothing is known: the line goes on to the next one.
    let writes = tenths.iter().enumerate().filter_map(|(place, tenth)| {
        Some(Sample { x: (place as f64 + 0.5) / 10.0 - zero, y: drawn_rate(tenth, full_rate)?, interval: None })
    });
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
        to: outage.to.map_or(drawn_after, |to| to.as_seconds() - zero).min(drawn_after),
        kind: BandKind::Away,
        label: "away".to_owned(),
    });
    let away = short(drill.outage(ProbeKind::Write));
    let instants = instants(drill);
    let told: Vec<String> = instants.iter().map(|(name, at)| format!("{name} at {} s", short(*at))).collect();
    let marks = marked(&instants, DRAWN_BEFORE + drawn_after).into_iter().filter(|(_, at)| drawn(at));
    let marks = marks.map(|(name, at)| Band { from: at, to: at, kind: BandKind::Instant, label: name.to_owned() });
    let (unprotected, unread) = of_drill(findings, drill).map_or_else(Default::default, |(attempt, settings)| {
        (unprotected(attempt, drill.report, &settings).stretches, unread(attempt, &settings))
    });
    let drawn_time = (-DRAWN_BEFORE, drawn_after);
    let unknown = shaded(&unread, zero, drawn_time, BandKind::Absent, "not read");
    let unprotected = shaded(&unprotected, zero, drawn_time, BandKind::Unprotected, "unprotected");
    Panel {
        title: label.to_owned(),
        alt: format!(
            "Acknowledged writes and transactions per second around the fault; write outage {away} s; {}{}.",
            told.join(", "),
            if unknown.is_empty() { "" } else { "; hatched where it is unknown whether commits waited" }
        ),
        x: Axis { from_zero: false, up_to: Some(drawn_after), ..Axis::linear("Time from the fault", "s") },
        y: Axis::linear("Writes, transactions", "1/s"),
        bands: unprotected.into_iter().chain(bands).chain(unknown).chain(marks).collect(),
        rules: Vec::new(),
        series: vec![
            series("writes", Role::Trace(0), writes.collect()),
            series("users", Role::Trace(1), users.collect()),
        ],
    }
}

/// Writes per second at the full pace of a prober that has a calm one, too.
fn full_rate(ledger: &Ledger) -> Option<f64> {
    (ledger.paces.calm_step > 1 && ledger.period_ns > 0).then(|| 1e9 / ledger.period_ns as f64)
}

/// Acknowledged writes per second in a tenth. Of a prober with two paces it is the rate of the full one times the share that was acknowledged of
/// those due, whichever pace was in force for how much of the tenth; `None` where none was due.
fn drawn_rate(tenth: &ProbeTenth, full_rate: Option<f64>) -> Option<f64> {
    let acknowledged = f64::from(tenth.acknowledged);
    let due = tenth.acknowledged + tenth.failed + tenth.unknown;
    match full_rate {
        Some(full_rate) => (due > 0).then(|| full_rate * acknowledged / f64::from(due)),
        None => Some(acknowledged * 10.0),
    }
}

/// Bands for stretches in seconds from time zero, as far as they lie in the time that is drawn, which counts from the fault.
fn shaded(stretches: &[(f64, f64)], fault: f64, (first, last): (f64, f64), kind: BandKind, label: &str) -> Vec<Band> {
    let relative = stretches.iter().map(|(from, to)| (from - fault, to - fault));
    let drawn = relative.filter(|(from, to)| *from < last && *to > first);
    drawn.map(|(from, to)| Band { from: from.max(first), to: to.min(last), kind, label: label.to_owned() }).collect()
}

/// Instants that are marked in a span of so many seconds: the most telling first, and none so near to another that their names would cover
/// each other. All are in the data behind the figure.
fn marked(instants: &[(&'static str, f64)], span: f64) -> Vec<(&'static str, f64)> {
    let mut marked: Vec<(&'static str, f64)> = Vec::new();
    for wanted in MARKED {
        let found = instants.iter().find(|(name, _)| name == wanted);
        let fits = |at: f64| marked.iter().all(|(_, other)| (at - other).abs() >= span * NAME_WIDTH);
        if let Some(instant) = found.filter(|(_, at)| fits(*at)) {
            marked.push(*instant);
        }
    }
    marked
}

/// Named instants of a drill, seconds from the fault, in order.
fn instants(drill: &DrillOf<'_>) -> Vec<(&'static str, f64)> {
    let report = drill.report;
    let outage = write_outages(drill).into_iter().next();
    let all = [
        ("in force", Some(report.fault_at)),
        ("first write not acknowledged", outage.map(|outage| outage.from.as_seconds())),
        ("detected by the manager", report.detected_at),
        ("promotion requested", report.promote_asked_at),
        ("promoted", report.promoted_at),
        ("undone", report.undone_at),
        ("told to rejoin", report.rejoin_asked_at),
        ("rejoined", report.rejoined_at),
        ("first write acknowledged", outage.and_then(|outage| outage.to).map(|to| to.as_seconds())),
        ("protected again", report.protected_again_at),
        ("users recovered", report.recovered_at.map(|at| at.max(report.fault_at))),
    ];
    let mut told: Vec<(&str, f64)> =
        all.into_iter().filter_map(|(name, at)| Some((name, at? - report.fault_at))).collect();
    told.sort_by(|one, other| one.1.total_cmp(&other.1));
    told
}

/// The attempt of a drill with the settings of its point.
fn of_drill<'r>(findings: &Findings<'r>, drill: &DrillOf<'_>) -> Option<(&'r Attempt, Settings)> {
    let record = findings.record;
    let attempt = findings.finished(drill.run)?;
    Some((attempt, record.plan.settings(&record.study, attempt.run.point)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofload_model::prober::ProberPaces;

    #[test]
    fn a_tenth_in_which_the_pace_changes_is_no_spike() {
        let tenth = |acknowledged, failed, unknown| ProbeTenth { acknowledged, failed, unknown };
        let mut ledger = Ledger { period_ns: 5_000_000, ..Ledger::default() };
        let drawn = |ledger: &Ledger, tenths: &[ProbeTenth]| -> Vec<Option<f64>> {
            tenths.iter().map(|tenth| drawn_rate(tenth, full_rate(ledger))).collect()
        };
        assert_eq!(drawn(&ledger, &[tenth(20, 0, 0), tenth(0, 0, 0)]), [Some(200.0), Some(0.0)], "one pace");
        ledger.paces = ProberPaces { calm_step: 10, changes: Vec::new() };
        let calm_turning_full = [tenth(2, 0, 0), tenth(11, 0, 0), tenth(20, 0, 0)];
        assert_eq!(drawn(&ledger, &calm_turning_full), [Some(200.0); 3]);
        let away = [tenth(5, 10, 5), tenth(0, 20, 0), tenth(0, 0, 0)];
        assert_eq!(drawn(&ledger, &away), [Some(50.0), Some(0.0), None]);
    }
}
