//! Several load agents beside each other: what each was asked for and what it did. A part of the section on validity.

use crate::blocks::{Block, Cell, Notice, Table, TableOf, prose};
use crate::findings::{AgentFindings, Findings, PointFindings, RunFindings};
use crate::numbers::short;

/// A share that is further from what was asked than this is spoken of.
const SPOKEN_OF: f64 = 0.05;

/// The table, and a word of caution where the load was uneven; nothing for loads of one agent.
pub(crate) fn blocks(findings: &Findings<'_>) -> Vec<Block> {
    let runs = || findings.runs();
    let agents = || runs().flat_map(|(_, run)| &run.agents);
    if agents().next().is_none() {
        return Vec::new();
    }
    let uneven: Vec<String> = runs().filter_map(|(point, run)| uneven(point, run)).collect();
    let notice = Block::Notice(
        Notice::Caution,
        prose! {
            "the load was uneven: ", uneven.join("; "), ". Percentiles cover the operations of all agents together, so \
             a host with a slower connection has less weight than requested."
        },
    );
    (!uneven.is_empty()).then_some(notice).into_iter().chain([Block::Table(table(findings))]).collect()
}

/// Table of the agents of every run; a column that would be the same or empty in every row only makes it too wide for a page.
fn table(findings: &Findings<'_>) -> Table {
    let several = findings.runs().nth(1).is_some();
    let rows = findings.runs().flat_map(|(point, run)| run.agents.iter().map(move |agent| (point, run, agent)));
    let rows: Vec<_> = rows.collect();
    let has_lag = rows.iter().any(|(.., agent)| agent.lag_ns_p99.is_some());
    let or_gap = |text: Option<String>| text.map_or_else(|| Cell::Gap("was not observed".to_owned()), Cell::datum);
    let lag = |agent: &AgentFindings| or_gap(agent.lag_ns_p99.map(|lag| short(lag as f64 * 1e-3)));
    let caption = prose![
        "Load agents in the measured window: each agent's requested share of users and arrivals, and its share of \
         completed work. The load generator was the limit if any agent was. Clocks are monotonic and may differ \
         by any amount. Placed within: accuracy of the common time zero on the agent. Moved: drift between its \
         clock and the conductor's by the end."
    ];
    TableOf::new("table-agents", caption, rows)
        .when(several, |table| table.words("Run", |(point, run, _)| point.run_label(run)))
        .words("Agent", |(.., agent)| agent.name.clone())
        .words("Virtual users", |(.., agent)| or_gap(agent.users.map(|users| users.to_string())))
        .words("Requested share, %", |(.., agent)| short(100.0 * agent.share_asked))
        .counts("Completed", |(.., agent)| agent.completed)
        .quantities("Achieved share", "%", |(.., agent)| agent.share())
        .words("Response p99, ms", |(.., agent)| or_gap(agent.response_ns_p99.map(|time| short(time as f64 * 1e-6))))
        .words("Busiest client thread, % of a core", |(.., agent)| {
            or_gap(agent.busiest_thread.map(|share| short(100.0 * share)))
        })
        .when(has_lag, |table| table.words("Send lag p99, µs", |(.., agent)| lag(agent)))
        .words("Clock placed within; moved, ms", |(.., agent)| or_gap(clock(agent)))
        .words("Load generator", |(.., agent)| generator(agent))
        .note(if has_lag { Vec::new() } else { prose!["No operation was scheduled, so there is no send lag."] })
}

fn clock(agent: &AgentFindings) -> Option<String> {
    let (bound, moved) = agent.clock_bound_ns.zip(agent.clock_moved_ns)?;
    Some(format!("{}; {}", short(bound as f64 * 1e-6), short(moved as f64 * 1e-6)))
}

fn generator(agent: &AgentFindings) -> String {
    let doubts: Vec<String> = agent.bound.iter().map(ToString::to_string).collect();
    if doubts.is_empty() { "not the limit".to_owned() } else { doubts.join("; ") }
}

/// The agent whose part differs most from what was asked, where it differs much.
fn uneven(point: &PointFindings, run: &RunFindings) -> Option<String> {
    // Of two that differ alike, the one that did less.
    let further = |a: &&AgentFindings, b: &&AgentFindings| {
        let (by, than) = (a.imbalance(), b.imbalance());
        by.abs().total_cmp(&than.abs()).then(than.total_cmp(&by))
    };
    let most = run.agents.iter().max_by(further)?;
    (most.imbalance().abs() > SPOKEN_OF).then(|| {
        let (got, asked) = (short(100.0 * most.share_got), short(100.0 * most.share_asked));
        format!(
            "{}: {} completed {got} % of the operations; its requested share was {asked} %",
            point.run_label(run),
            most.name
        )
    })
}
