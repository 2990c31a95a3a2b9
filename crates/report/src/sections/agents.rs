//! Several load agents beside each other: what each was asked for and what it did. A part of the section on validity.

use crate::blocks::{Block, Cell, Column, Notice, Table, prose};
use crate::findings::{AgentFindings, Findings, PointFindings, RunFindings};
use crate::numbers::short;

/// A share that is further from what was asked than this is spoken of.
const SPOKEN_OF: f64 = 0.05;

/// The table, and a word of caution where the load was uneven; nothing for loads of one agent.
pub(super) fn blocks(findings: &Findings<'_>) -> Vec<Block> {
    let runs = || findings.runs();
    let agents = || runs().flat_map(|(_, run)| &run.agents);
    if agents().next().is_none() {
        return Vec::new();
    }
    // A column that would be the same or empty in every row only makes the table too wide for a page.
    let shown = OptionalColumns { run: runs().nth(1).is_some(), lag: agents().any(|agent| agent.lag_ns_p99.is_some()) };
    let rows: Vec<Vec<Cell>> =
        runs().flat_map(|(point, run)| run.agents.iter().map(move |agent| row(point, run, agent, shown))).collect();
    let uneven: Vec<String> = runs().filter_map(|(point, run)| uneven(point, run)).collect();
    let notice = Block::Notice(
        Notice::Caution,
        prose! {
            "the load was uneven: ", uneven.join("; "), ". Percentiles cover the operations of all agents together, so \
             a host with a slower connection has less weight than requested."
        },
    );
    let table = Block::Table(Table {
        id: "table-agents",
        caption: prose![
            "Load agents in the measured window: each agent's requested share of users and arrivals, and its share of \
             completed work. The load generator was the limit if any agent was. Clocks are monotonic and may differ \
             by any amount. Placed within: accuracy of the common time zero on the agent. Moved: drift between its \
             clock and the conductor's by the end."
        ],
        columns: shown.columns(),
        rows,
        note: if shown.lag { Vec::new() } else { prose!["No operation was scheduled, so there is no send lag."] },
    });
    (!uneven.is_empty()).then_some(notice).into_iter().chain([table]).collect()
}

/// Which of the columns that not every study needs are there.
#[derive(Clone, Copy)]
struct OptionalColumns {
    run: bool,
    lag: bool,
}

impl OptionalColumns {
    fn columns(self) -> Vec<Column> {
        let columns = [
            self.run.then(|| Column::words("Run")),
            Some(Column::words("Agent")),
            Some(Column::words("Virtual users")),
            Some(Column::words("Requested share, %")),
            Some(Column::counts("Completed")),
            Some(Column::quantities("Achieved share", "%")),
            Some(Column::words("Response p99, ms")),
            Some(Column::words("Busiest client thread, % of a core")),
            self.lag.then(|| Column::words("Send lag p99, µs")),
            Some(Column::words("Clock placed within; moved, ms")),
            Some(Column::words("Load generator")),
        ];
        columns.into_iter().flatten().collect()
    }
}

fn row(point: &PointFindings, run: &RunFindings, agent: &AgentFindings, shown: OptionalColumns) -> Vec<Cell> {
    let or_gap = |text: Option<String>| text.map_or_else(|| Cell::Gap("was not observed".to_owned()), Cell::datum);
    let doubts: Vec<String> = agent.bound.iter().map(ToString::to_string).collect();
    let clock = agent.clock_bound_ns.zip(agent.clock_moved_ns);
    let cells = [
        shown.run.then(|| Cell::datum(point.run_label(run))),
        Some(Cell::datum(agent.name.clone())),
        Some(or_gap(agent.users.map(|users| users.to_string()))),
        Some(Cell::datum(short(100.0 * agent.share_asked))),
        Some(Cell::Count(agent.completed)),
        Some(Cell::Quantity(agent.share())),
        Some(or_gap(agent.response_ns_p99.map(|time| short(time as f64 * 1e-6)))),
        Some(or_gap(agent.busiest_thread.map(|share| short(100.0 * share)))),
        shown.lag.then(|| or_gap(agent.lag_ns_p99.map(|lag| short(lag as f64 * 1e-3)))),
        Some(or_gap(
            clock.map(|(bound, moved)| format!("{}; {}", short(bound as f64 * 1e-6), short(moved as f64 * 1e-6))),
        )),
        Some(if doubts.is_empty() { Cell::datum("not the limit") } else { Cell::datum(doubts.join("; ")) }),
    ];
    cells.into_iter().flatten().collect()
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
