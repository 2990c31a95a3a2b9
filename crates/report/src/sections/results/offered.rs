//! The load itself beside the main results: the run as a whole where it ended by a count, and offered against achieved
//! where a rate was asked for.

use crate::blocks::{Block, Cell, Notice, Prose, Table, cells, columns, prose};
use crate::findings::{Findings, OfferedRate, PointFindings, RunFindings};
use crate::metrics::{RUN_THROUGHPUT, RUN_TIME, THROUGHPUT};
use crate::numbers::short;

/// Runs up to which the table of offered load stands open.
const MOST_ROWS: usize = 8;

/// The run as a whole, as papers of this workload print it.
pub(crate) fn whole_run(findings: &Findings<'_>) -> Option<Block> {
    let by_count = |point: &&PointFindings| point.metric(RUN_THROUGHPUT).is_ok();
    let rows: Vec<Vec<Cell>> = findings.points.iter().filter(by_count).map(whole_row).collect();
    (!rows.is_empty()).then(|| {
        let table = Block::Table(Table {
            id: "table-whole-run",
            caption: prose![
                "Runs that ended after a fixed number of operations, from time zero to the end of the last operation, \
                 warm-up included. After the first user had finished, fewer users were active."
            ],
            columns: columns! {
                point(findings), counts("Operations"), metric(&RUN_TIME), metric(&RUN_THROUGHPUT.headed()),
                metric(&THROUGHPUT.headed()), words("First user finished, s")
            },
            rows,
            note: Vec::new(),
        });
        Block::Fold(prose!["The runs as a whole, warm-up included"], vec![table])
    })
}

fn whole_row(point: &PointFindings) -> Vec<Cell> {
    let ended = || point.runs.iter().filter_map(|run| run.completed);
    let first: Vec<String> = ended().filter_map(|run| run.first_user_ended).map(crate::numbers::short).collect();
    cells! {
        point.label(), Cell::Count(ended().map(|run| run.operations).sum()), point.metric(RUN_TIME),
        point.metric(RUN_THROUGHPUT), point.metric(THROUGHPUT),
        if first.is_empty() { Cell::Gap("was not recorded".to_owned()) } else { Cell::datum(first.join(", ")) }
    }
}

/// Offered against achieved, and a word of caution for points that fell behind.
pub(crate) fn offered(findings: &Findings<'_>) -> Vec<Block> {
    let rows: Vec<Vec<Cell>> = findings
        .points
        .iter()
        .flat_map(|point| point.runs.iter().filter_map(|run| Some(row(point, run, run.offered.as_ref()?))))
        .collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let mut blocks: Vec<Block> =
        overloaded(findings).map(|words| Block::Notice(Notice::Caution, words)).into_iter().collect();
    let fold = (rows.len() > MOST_ROWS).then(|| in_short(findings));
    let table = Block::Table(Table {
        id: "table-offered",
        caption: prose! {
            "Offered and achieved load in the measured window. A run that achieved less than 99 % of the offered load, \
             or whose backlog grew, is overloaded: its response times grow as long as the load lasts. The backlog \
             counts operations that were due but had not started at the end of a second: means of the window's first \
             and last quarter. Dropped operations had waited too long for a user; they have no response time. Send lag \
             is the delay added by the load generator: actual minus intended start of operations whose user was free."
        },
        columns: columns! {
            words("Run"), counts("Requested, 1/s"), counts("Offered, 1/s"),
            quantities("Ended, failures included", "1/s"), quantities("Share of offered", "%"), counts("Dropped"),
            words("Backlog, first and last quarter"), words("Send lag at p99, µs"), words("Load")
        },
        rows,
        note: Vec::new(),
    });
    blocks.push(match fold {
        Some(label) => Block::Fold(label, vec![table]),
        None => table,
    });
    blocks
}

/// The table's line where it is folded: how many runs kept up, and the least share that ended.
fn in_short(findings: &Findings<'_>) -> Prose {
    let runs: Vec<&OfferedRate> = findings.runs().filter_map(|(_, run)| run.offered.as_ref()).collect();
    let kept = runs.iter().filter(|offered| offered.overload().is_none()).count();
    let least = runs.iter().map(|offered| offered.percent().value()).fold(f64::INFINITY, f64::min);
    let dropped: u64 = runs.iter().map(|offered| offered.dropped).sum();
    prose! {
        "Offered load: ", format!("{kept} of {} runs kept up", runs.len()),
        format!("; at least {}\u{a0}% of it was completed; {dropped} operations were dropped", short(least))
    }
}

fn row(point: &PointFindings, run: &RunFindings, offered: &OfferedRate) -> Vec<Cell> {
    let name = point.run_label(run);
    let backlog = offered.backlog.map(|(first, last)| format!("{}, {}", short(first), short(last)));
    let lag = offered.lag_ns_p99.map(|lag| short(lag * 1e-3));
    let or_gap = |text: Option<String>| text.map_or_else(|| Cell::Gap("was not observed".to_owned()), Cell::datum);
    cells! {
        name, short(offered.asked), or_gap(offered.due.map(short)), offered.achieved(), offered.percent(),
        Cell::Count(offered.dropped), or_gap(backlog), or_gap(lag),
        offered.overload().map_or(Cell::Verdict(true, "kept up"), |_| Cell::Verdict(false, "overloaded"))
    }
}

/// Which points fell behind, and by how much.
pub(crate) fn overloaded(findings: &Findings<'_>) -> Option<Prose> {
    let behind: Vec<String> =
        findings.points.iter().filter_map(|point| Some(format!("{} ({})", point.label(), point.overload()?))).collect();
    (!behind.is_empty()).then(|| {
        prose! {
            "overloaded: ", behind.join("; "), ". Response times of an overloaded point depend on the length of the \
             window, not on the speed of the database."
        }
    })
}
