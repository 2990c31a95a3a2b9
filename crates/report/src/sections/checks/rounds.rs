//! Runs that are rated whole, in words and tables: what stands in the place of a detected steady state.

use crate::blocks::{Block, Cell, Prose, Table, TableOf, cells, columns, prose};
use crate::findings::{Findings, PointFindings, RunFindings, WholeRun};
use crate::sections::charts::measured_cell;
use proofload_analysis::quantity::{Interval, Quantity, Unit};
use proofload_analysis::rounds::Round;

/// Most rounds listed one by one for a study.
const MOST_LISTED: usize = 400;

type Whole<'f> = (&'f PointFindings, &'f RunFindings, &'f WholeRun);

fn whole_runs<'f>(findings: &'f Findings<'_>) -> impl Iterator<Item = Whole<'f>> {
    findings.runs().filter_map(|(point, run)| Some((point, run, run.whole.as_ref()?)))
}

/// Whether any run is rated whole.
pub(crate) fn any(findings: &Findings<'_>) -> bool {
    whole_runs(findings).next().is_some()
}

/// Whether there is a finished run and every one is rated whole.
pub(crate) fn all(findings: &Findings<'_>) -> bool {
    any(findings) && findings.runs().all(|(_, run)| run.whole.is_some())
}

/// What a user of this workload is called: the last of what its scale counts.
fn user_words(findings: &Findings<'_>) -> (&'static str, &'static str) {
    findings.workload.scale.last().map_or(("user", "users"), |(_, one, many)| (*one, *many))
}

/// How such runs are judged.
pub(crate) fn how_judged() -> Prose {
    prose![
        "Runs that are rated as a whole have no detected steady state and no second-by-second test of throughput, \
         because their operations take too long. Instead, the lengths of their rounds are tested: with three measured \
         rounds or more, they must not change by more than the drift tolerance. With fewer rounds drift cannot be \
         judged; the confidence interval comes from repetitions of the run."
    ]
}

/// Warm-up and measurement of such runs, for the procedure.
pub(crate) fn steps(findings: &Findings<'_>, drift_tolerance: &str) -> Vec<Prose> {
    let (one, many) = user_words(findings);
    let cold = whole_runs(findings).any(|(.., whole)| whole.cold);
    let warmed = whole_runs(findings).any(|(.., whole)| whole.warm_up_rounds > 0);
    let mut steps = Vec::new();
    if cold {
        steps.push(prose![
            "No warm-up: cold start. The instance had just been started, and the page cache of its files was dropped \
             right before the load."
        ]);
    }
    if warmed {
        steps.push(prose! {
            "Warm-up: complete rounds of every ", one, ", as many as the study declares, ",
            "not detected. The rated time begins with the first full second after the last of them."
        });
    }
    if !cold && !warmed {
        steps.push(prose![
            "No warm-up. The server was already running, so the state of its caches at the start is unknown."
        ]);
    }
    steps.push(prose! {
        "Measurement of the run as a whole, until the first of the ", many,
        " had no work left, so all of them were active throughout. A round counts with the share of its time that lies \
         in this period. If the length of rounds changes significantly by more than ", drift_tolerance.to_owned(),
        ", the run is void."
    });
    steps
}

/// How a run that is rated whole began.
pub(crate) fn warm_up(run: &RunFindings) -> Cell {
    let Some(whole) = &run.whole else { return Cell::Empty };
    Cell::Prose(match (whole.warm_up_rounds, whole.cold) {
        (0, true) => prose!["none: cold start"],
        (0, false) => prose!["none: the server was already running"],
        (1, _) => prose!["1 round"],
        (rounds, _) => prose![rounds, " rounds"],
    })
}

/// Rounds of every run in short, and one by one.
pub(crate) fn tables(findings: &Findings<'_>) -> Vec<Block> {
    if !any(findings) {
        return Vec::new();
    }
    let (one, many) = user_words(findings);
    let mut blocks = vec![Block::Table(Table {
        id: "table-rounds",
        caption: prose! {
            "Runs that are rated as a whole: their measured rounds, and how long all ", many, " were active."
        },
        columns: columns! {
            words("Run"), quantities("Rounds per user", ""), quantities("Mean round", "s"), quantities("Shortest", "s"),
            quantities("Longest", "s"), quantities("All active", "s"), quantities("Run", "s")
        },
        rows: whole_runs(findings).map(row).collect(),
        note: prose! {
            "A round is every query or operation that a ", one,
            " receives, once each. Only the period in which all are active is rated."
        },
    })];
    if whole_runs(findings).map(|(.., whole)| whole.rounds.len()).sum::<usize>() <= MOST_LISTED {
        blocks.push(Block::Fold(prose!["Every round"], vec![Block::Table(each(findings, one))]));
    }
    blocks
}

fn row((point, run, whole): Whole<'_>) -> Vec<Cell> {
    let lengths: Vec<f64> = whole.measured().iter().map(Round::seconds).collect();
    let of = |value: f64, n: usize, why: &'static str| -> Cell {
        let quantity = Quantity::new(value, Unit::named("s"), n as u64, Interval::none(why));
        measured_cell(if value.is_finite() { Ok(quantity) } else { Err("no round was measured".to_owned()) })
    };
    let (n, stretch) = (lengths.len(), "a period of time");
    let extreme = |pick: fn(f64, f64) -> f64| lengths.iter().copied().reduce(pick).unwrap_or(f64::NAN);
    cells! {
        point.run_label(run), Cell::Count(whole.rounds_of_each() as u64),
        of(proofload_analysis::distribution::mean(&lengths), n, "rounds of one run depend on each other"),
        of(extreme(f64::min), n, "an extreme value has no interval"),
        of(extreme(f64::max), n, "an extreme value has no interval"),
        of(whole.stretch.map_or(f64::NAN, |(from, to)| to - from), 1, stretch),
        of(run.completed.map_or(f64::NAN, |completed| completed.seconds), 1, stretch)
    }
}

fn each(findings: &Findings<'_>, one: &'static str) -> Table {
    let rows = whole_runs(findings)
        .flat_map(|(point, run, whole)| whole.rounds.iter().map(move |round| (point.run_label(run), whole, round)));
    TableOf::new("", prose!["Every round of every ", one, "."], rows)
        .words("Run", |(run, ..)| run.clone())
        .words(crate::sections::charts::capital(one), |(.., round)| (round.user + 1).to_string())
        .words("Round", |(.., round)| (round.number + 1).to_string())
        .words("Counted as", |(_, whole, round)| {
            prose![if round.number < whole.warm_up_rounds { "warm-up" } else { "measured" }]
        })
        .quantities("Length", "s", |(.., round)| {
            Quantity::new(round.seconds(), Unit::named("s"), 1, Interval::none("one round"))
        })
        .counts("Completed", |(.., round)| round.well)
        .counts("Failed", |(.., round)| round.failed)
        .table()
}
