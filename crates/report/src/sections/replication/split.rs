//! Where the time of a transaction goes, by what its session waited for, with the forecast as a mark.

use crate::blocks::{Axis, Block, Chart, Column, Figure, Notice, Stack, Stacks, Table, TableOf, prose};
use crate::findings::Findings;
use crate::findings::replication::ReplicatedPoint;
use crate::findings::replication::time_split::{AGREES_WITHIN, TimeSplit};
use crate::numbers::short;
use proofload_model::session_state::SessionState;

/// Share of the longest response time below which a state is drawn with the others.
const LEAST_DRAWN: f64 = 0.01;

/// A state for readers.
fn title(state: SessionState) -> &'static str {
    match state {
        SessionState::Running => "running or waiting for a core",
        SessionState::Log => "local log flush",
        SessionState::Standby => "standby",
        SessionState::Lock => "locks",
        SessionState::Read => "data reads",
        SessionState::Client => "client and network",
        SessionState::Other => "other waits",
    }
}

/// The figure, or why it is missing; nothing where sessions were not looked at.
pub(super) fn blocks(findings: &Findings<'_>, points: &[ReplicatedPoint]) -> Vec<Block> {
    let looked: Vec<(String, &ReplicatedPoint, &TimeSplit)> = points
        .iter()
        .filter_map(|one| Some((findings.point(one.point)?.label(), one, one.split.as_ref().ok()?)))
        .collect();
    let (shown, left_out): (Vec<_>, Vec<_>) = looked.into_iter().partition(|(_, _, split)| split.agrees());
    let mut blocks = Vec::new();
    if !shown.is_empty() {
        blocks.push(Block::Figure(Box::new(figure(&shown))));
    }
    if !left_out.is_empty() {
        let reasons = left_out
            .iter()
            .map(|(label, _, split)| format!("{label}: {} of {} ms", short(split.sum), short(split.response)));
        let text = prose![
            "The split of a transaction's time is omitted if the times in all states do not add up to the response \
             time within ",
            short(100.0 * AGREES_WITHIN),
            " %: ",
            reasons.collect::<Vec<_>>().join("; "),
            "."
        ];
        blocks.push(Block::Notice(Notice::Gap, text));
    }
    blocks
}

/// States that take a share worth drawing at any point, in their order.
fn drawn(shown: &[(String, &ReplicatedPoint, &TimeSplit)]) -> Vec<SessionState> {
    let longest = shown.iter().map(|(_, _, split)| split.sum).fold(0.0, f64::max);
    let is_drawn = |state: &SessionState| {
        *state != SessionState::Other && shown.iter().any(|(_, _, split)| split.of(*state) >= LEAST_DRAWN * longest)
    };
    SessionState::ALL.into_iter().filter(is_drawn).collect()
}

fn figure(shown: &[(String, &ReplicatedPoint, &TimeSplit)]) -> Figure {
    let states = drawn(shown);
    let stack = |(label, one, split): &(String, &ReplicatedPoint, &TimeSplit)| {
        let mut parts: Vec<f64> = states.iter().map(|state| split.of(*state)).collect();
        parts.push((split.sum - parts.iter().sum::<f64>()).max(0.0));
        let forecast = one.forecast.as_ref().and_then(|forecast| forecast.beside.as_ref().ok());
        Stack { label: label.clone(), parts, mark: forecast.map(|beside| beside.response.value()) }
    };
    let rows: Vec<Stack> = shown.iter().map(stack).collect();
    let mut names: Vec<String> = states.iter().map(|state| title(*state).to_owned()).collect();
    names.push(title(SessionState::Other).to_owned());
    let described = rows.iter().map(|row| {
        let parts = row.parts.iter().zip(&names).map(|(part, name)| format!("{name} {}", short(*part)));
        format!("{}: {}.", row.label, parts.collect::<Vec<_>>().join(", "))
    });
    let alt = format!("Stacked bars of ms per transaction. {}", described.collect::<Vec<_>>().join(" "));
    let marked = rows.iter().any(|row| row.mark.is_some());
    let mut caption =
        prose!["Time of a transaction by state: mean number of sessions in each state divided by throughput."];
    if marked {
        caption.extend(prose![" The mark is the mean response time forecast from the calibration of commits."]);
    }
    let axis = Axis::linear("Time of a transaction", "ms");
    let chart = Chart::Stacks(Stacks { axis, names, rows, mark: "forecast".to_owned() });
    Figure { id: "figure-split", caption, alt, chart, data: data(shown) }
}

fn data(shown: &[(String, &ReplicatedPoint, &TimeSplit)]) -> Table {
    TableOf::new("", prose!["Time of a transaction by state of its session."], shown)
        .words("Point", |(label, ..)| label.clone())
        .each(
            SessionState::ALL,
            |state| Column::quantities(title(*state), "ms"),
            |(.., split), state| split.parts.iter().find(|(known, _)| known == state).map(|(_, time)| time.clone()),
        )
        .quantities("Sum", "ms", |(.., split)| short(split.sum))
        .quantities("Mean response time", "ms", |(.., split)| short(split.response))
        .quantities("Looks", "1/s", |(.., split)| split.looks.clone())
        .quantities("Cost of sampling", "CPU s/s", |(.., split)| split.cost.clone())
        .table()
}
