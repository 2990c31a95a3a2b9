//! What a mode should add by the calibration of commits, beside what it added, and the stage that stands out where they differ.

use super::modes::title;
use crate::blocks::{Block, Cell, Prose, Table, TableOf, prose};
use crate::findings::Findings;
use crate::findings::replication::ReplicatedPoint;
use crate::findings::replication::forecast::{Beside, Forecast, calibration_of, commit_times};
use crate::findings::replication::time_split::TimeSplit;
use proofload_analysis::quantity::Quantity;
use proofload_model::commit_levels::CommitCalibration;
use proofload_model::replication::ReplicationMode;
use proofload_model::session_state::SessionState;

/// Growth of a part of a transaction's time that is worth naming, as a share of the excess.
const WORTH_NAMING: f64 = 0.3;

/// What the columns of a forecast mean, and those beside it.
const FORECAST: &str = "Forecast: the additional time of a commit, times the share of transactions that write.";
const WAITED: &str = " Waited for a standby: observed wait of the load's sessions for a standby, if the states of a \
    transaction's time add up.";
const COMPARED: &str = " Kept: throughput in per cent of that without standbys, if nothing else changes; with one \
    user this is the total effect. An excess within a fifth of the forecast, or whose interval contains 0, is \
    explained by network and flush; a larger one is queueing.";

/// Tables of the calibrations and of the forecasts; nothing where nothing was calibrated.
pub(super) fn blocks(findings: &Findings<'_>, points: &[ReplicatedPoint]) -> Vec<Block> {
    let tables = [commits(findings, points), forecasts(findings, points)];
    tables.into_iter().filter_map(Table::filled).map(Block::Table).collect()
}

fn commits(findings: &Findings<'_>, points: &[ReplicatedPoint]) -> Table {
    let mut known: Vec<(&CommitCalibration, String)> = Vec::new();
    for one in points {
        let Some(point) = findings.point(one.point) else { continue };
        let Some(found) = calibration_of(findings, point) else { continue };
        match known.iter_mut().find(|(one, _)| one.key == found.key) {
            Some((_, points)) => points.push_str(&format!(", {}", point.label())),
            None => known.push((found, point.label())),
        }
    }
    let rows = known
        .iter()
        .flat_map(|(calibration, points)| commit_times(calibration).into_iter().map(move |one| (points, one)));
    let caption = prose![
        "Commit time by what the commit waits for: medians, measured before the load on one connection, with the \
         levels taking turns in random order."
    ];
    TableOf::new("table-commits", caption, rows)
        .when(known.len() > 1, |table| table.words("Applies to", |(points, _)| (*points).clone()))
        .words("Level", |(_, one)| Cell::code(one.level.word()))
        .quantities("Commit", "ms", |(_, one)| one.time.clone())
        .quantities("More than local", "ms", |(_, one)| one.added.clone())
        .note(prose![
            "More than local: median of the differences within rounds of all levels, with intervals from order \
             statistics. Each commit writes 4,000 bytes to the log and changes no table."
        ])
}

fn forecasts(findings: &Findings<'_>, points: &[ReplicatedPoint]) -> Table {
    let compared = points.iter().any(|one| one.forecast.as_ref().is_some_and(|forecast| forecast.beside.is_ok()));
    let waited = points.iter().any(|one| one.forecast.is_some() && waits(one).is_some());
    let rows = points.iter().filter_map(|one| Some((one, findings.point(one.point)?.label(), one.forecast.as_ref()?)));
    let caption = prose![
        "Additional time of a transaction due to waiting for a standby: forecast from the calibration, and measured."
    ];
    let unit = "ms per transaction";
    TableOf::new("table-forecast", caption, rows)
        .words("Point", |(_, label, _)| label.clone())
        .quantities("Forecast: added", unit, |(.., forecast)| forecast.added.clone())
        .when(waited, |table| table.quantities("Waited for a standby", unit, |(one, ..)| waits(one).cloned()))
        .when(compared, |table| {
            table
                .quantities("Measured: added", unit, |(.., forecast)| match &forecast.beside {
                    Ok(beside) => Cell::from(&beside.measured),
                    Err(why) => Cell::Gap(why.clone()),
                })
                .quantities("Excess", unit, |(.., forecast)| Some(forecast.beside.as_ref().ok()?.excess.clone()))
                .quantities("Forecast: kept", "%", |(.., forecast)| Some(forecast.beside.as_ref().ok()?.kept.clone()))
                .quantities("Measured: kept", "%", |(one, _, forecast)| {
                    one.kept.clone().filter(|_| forecast.beside.is_ok())
                })
                .words("Meaning of the excess", |(one, _, forecast)| {
                    Some(meaning(points, one, forecast, forecast.beside.as_ref().ok()?))
                })
        })
        .note(
            [
                prose![FORECAST],
                if waited { prose![WAITED] } else { Prose::new() },
                if compared { prose![COMPARED] } else { Prose::new() },
            ]
            .concat(),
        )
}

/// Time of a transaction in which its session was seen to wait for a standby.
fn waits(one: &ReplicatedPoint) -> Option<&Quantity> {
    let split = one.split.as_ref().ok().filter(|split| split.agrees())?;
    split.parts.iter().find(|(state, _)| *state == SessionState::Standby).map(|(_, time)| time)
}

fn meaning(points: &[ReplicatedPoint], one: &ReplicatedPoint, forecast: &Forecast, beside: &Beside) -> String {
    if beside.is_explained(&forecast.added) {
        "explained by network and flush".to_owned()
    } else if beside.excess.value() > 0.0 {
        format!("queueing: {}", stage(points, one, forecast, beside))
    } else {
        "less than forecast: users queue less for shared resources".to_owned()
    }
}

/// The stage that stands out: a single thread that can do no more, else the part of a transaction's time that grew most beyond its forecast.
fn stage(points: &[ReplicatedPoint], one: &ReplicatedPoint, forecast: &Forecast, beside: &Beside) -> String {
    if let Some((node, role)) = one.busiest_single().filter(|(_, role)| role.is_serial_limit()) {
        return format!("{} of {node} is at its limit", title(&role.role));
    }
    let base = points.iter().find(|base| base.mode == ReplicationMode::None);
    let splits = one.split.as_ref().ok().zip(base.and_then(|base| base.split.as_ref().ok()));
    let grown = splits.filter(|(own, base)| own.agrees() && base.agrees()).and_then(|(own, base)| {
        let grown = SessionState::ALL.map(|state| (state, growth(state, own, base, forecast)));
        grown.into_iter().max_by(|(_, a), (_, b)| a.total_cmp(b))
    });
    match grown.filter(|(_, grown)| *grown >= WORTH_NAMING * beside.excess.value()) {
        Some((SessionState::Running, _)) => "sessions wait for a core, or are throttled".to_owned(),
        Some((SessionState::Log, _)) => "flushes of the primary's log became slower".to_owned(),
        Some((SessionState::Standby, _)) => "commits wait longer for the standby than a single one does".to_owned(),
        Some((SessionState::Lock, _)) => "locks, which are held during the wait".to_owned(),
        Some((SessionState::Read, _)) => "data reads became slower".to_owned(),
        Some((SessionState::Client, _)) => "the client, or the connection to it".to_owned(),
        Some((SessionState::Other, _)) => "other waits of the server".to_owned(),
        None => "stage unknown".to_owned(),
    }
}

fn growth(state: SessionState, own: &TimeSplit, base: &TimeSplit, forecast: &Forecast) -> f64 {
    let expected = if state == SessionState::Standby { forecast.added.value() } else { 0.0 };
    own.of(state) - base.of(state) - expected
}
