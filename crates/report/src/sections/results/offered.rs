//! The load itself beside the main results: the run as a whole where it ended by a count, and offered against achieved
//! where a rate was asked for.

use crate::blocks::{Block, Cell, Column, Notice, Prose, TableOf, prose};
use crate::findings::{CompletedLoad, Findings, OfferedRate, PointFindings};
use crate::metrics::{RUN_THROUGHPUT, RUN_TIME, THROUGHPUT};
use crate::numbers::short;

/// Runs up to which the table of offered load stands open.
const MOST_ROWS: usize = 8;

/// The run as a whole, as papers of this workload print it.
pub(crate) fn whole_run(findings: &Findings<'_>) -> Option<Block> {
    let by_count = findings.points.iter().filter(|point| point.metric(RUN_THROUGHPUT).is_ok());
    let caption = prose![
        "Runs that ended after a fixed number of operations, from time zero to the end of the last operation, \
         warm-up included. After the first user had finished, fewer users were active."
    ];
    TableOf::new("table-whole-run", caption, by_count)
        .column(Column::point(findings), |point| point.label())
        .counts("Operations", |point| completed(point).map(|run| run.operations).sum::<u64>())
        .column(Column::metric(&RUN_TIME), |point| point.metric(RUN_TIME))
        .column(Column::metric(&RUN_THROUGHPUT.headed()), |point| point.metric(RUN_THROUGHPUT))
        .column(Column::metric(&THROUGHPUT.headed()), |point| point.metric(THROUGHPUT))
        .words("First user finished, s", |point| {
            let first: Vec<String> = completed(point).filter_map(|run| run.first_user_ended).map(short).collect();
            if first.is_empty() { Cell::Gap("was not recorded".to_owned()) } else { Cell::datum(first.join(", ")) }
        })
        .table()
        .filled()
        .map(|table| Block::Fold(prose!["The runs as a whole, warm-up included"], vec![Block::Table(table)]))
}

fn completed(point: &PointFindings) -> impl Iterator<Item = CompletedLoad> {
    point.runs.iter().filter_map(|run| run.completed)
}

/// Offered against achieved, and a word of caution for points that fell behind.
pub(crate) fn offered(findings: &Findings<'_>) -> Vec<Block> {
    let rows = findings.runs().filter_map(|(point, run)| Some((point.run_label(run), run.offered.as_ref()?)));
    let rows: Vec<(String, &OfferedRate)> = rows.collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let mut blocks: Vec<Block> =
        overloaded(findings).map(|words| Block::Notice(Notice::Caution, words)).into_iter().collect();
    let fold = (rows.len() > MOST_ROWS).then(|| in_short(findings));
    let caption = prose! {
        "Offered and achieved load in the measured window. A run that achieved less than 99 % of the offered load, \
         or whose backlog grew, is overloaded: its response times grow as long as the load lasts. The backlog \
         counts operations that were due but had not started at the end of a second: means of the window's first \
         and last quarter. Dropped operations had waited too long for a user; they have no response time. Send lag \
         is the delay added by the load generator: actual minus intended start of operations whose user was free."
    };
    let or_gap = |text: Option<String>| text.map_or_else(|| Cell::Gap("was not observed".to_owned()), Cell::datum);
    let table = TableOf::new("table-offered", caption, rows)
        .words("Run", |(run, _)| run.clone())
        .counts("Requested, 1/s", |(_, offered)| short(offered.asked))
        .counts("Offered, 1/s", |(_, offered)| or_gap(offered.due.map(short)))
        .quantities("Ended, failures included", "1/s", |(_, offered)| offered.achieved())
        .quantities("Share of offered", "%", |(_, offered)| offered.percent())
        .counts("Dropped", |(_, offered)| offered.dropped)
        .words("Backlog, first and last quarter", |(_, offered)| {
            or_gap(offered.backlog.map(|(first, last)| format!("{}, {}", short(first), short(last))))
        })
        .words("Send lag at p99, µs", |(_, offered)| or_gap(offered.lag_ns_p99.map(|lag| short(lag * 1e-3))))
        .words("Load", |(_, offered)| {
            offered.overload().map_or(Cell::Verdict(true, "kept up"), |_| Cell::Verdict(false, "overloaded"))
        })
        .table();
    let table = Block::Table(table);
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
