//! Stalls: seconds of the window in which far too little was completed or something took far too long.

use crate::blocks::{Block, Prose, Table, TableOf, prose};
use crate::findings::{Findings, RunFindings};
use crate::numbers::short;
use crate::sections::section::a_finished_run;
use proofload_analysis::quantity::{Interval, Quantity, Unit};
use proofload_analysis::stall::{Stall, TIMES_P99};

/// When a response time stands out in more than one of so many seconds, that is no single event.
const LONG_TAIL: usize = 5;

/// Most stalls listed for each run, the worst ones.
const LISTED: usize = 8;

/// Longer lists of runs are folded.
const MOST_RUNS: usize = 4;

pub(crate) fn render(findings: &Findings<'_>) -> Vec<Block> {
    // Runs that are rated as a whole have seconds without any completed work, which are no stalls.
    if a_finished_run(findings).is_err() || findings.runs().all(|(_, run)| run.whole.is_some()) {
        return Vec::new();
    }
    let any = findings.runs().any(|(_, run)| !run.stalls.found.is_empty());
    if !any {
        let words = prose![
            "No second of any measured window fell below half of the window's median throughput, and no response time \
             exceeded ten times its 99th percentile."
        ];
        return if findings.workload.tells_absence { vec![Block::Paragraph(words)] } else { Vec::new() };
    }
    let mut words = prose![
        "The mean over a window hides its stalls. Listed are seconds with less than half of the window's median \
         throughput (less if throughput varies widely), and seconds in which an operation ended with a response time \
         above ten times the window's 99th percentile. "
    ];
    words.extend(worst_sentence(findings));
    let label = prose!["All stalls"];
    vec![
        Block::Paragraph(words),
        match runs_with_stalls(findings) > MOST_RUNS {
            true => Block::Fold(prose!["Runs with stalls"], vec![Block::Table(by_run(findings))]),
            false => Block::Table(by_run(findings)),
        },
        Block::Fold(label, vec![Block::Table(table(findings))]),
    ]
}

fn runs_with_stalls(findings: &Findings<'_>) -> usize {
    findings.runs().filter(|(_, run)| !run.stalls.found.is_empty()).count()
}

/// How many stalls each run had, how long they were, and the worst.
fn by_run(findings: &Findings<'_>) -> Table {
    let rows = findings.runs().filter(|(_, run)| !run.stalls.found.is_empty());
    let rows = rows.map(|(point, run)| (point.run_label(run), &run.stalls.found));
    TableOf::new("table-stalls", prose!["Runs with stalls in the measured window."], rows)
        .words("Run", |(run, _)| run.clone())
        .counts("Stalls", |(_, found)| found.len())
        .counts("Seconds with low throughput", |(_, found)| found.iter().map(|one| one.slow_seconds).sum::<usize>())
        .counts("Longest, s", |(_, found)| found.iter().map(|stall| stall.slow_seconds).max().unwrap_or(0))
        .counts("Worst response time, ms", |(_, found)| {
            let late = found.iter().filter_map(|stall| stall.largest_response_ns).max();
            late.map(|late| short(late as f64 * 1e-6))
        })
        .note(without_stalls(findings))
}

/// How many runs had none.
fn without_stalls(findings: &Findings<'_>) -> Prose {
    match findings.runs().filter(|(_, run)| run.stalls.found.is_empty()).count() {
        0 => Prose::new(),
        1 => prose!["One other run had none."],
        others => prose!["The other ", others, " runs had none."],
    }
}

/// The worst stall of the study; empty without any.
fn worst_sentence(findings: &Findings<'_>) -> Prose {
    let found = findings.runs().filter_map(|(point, run)| Some((point, run, run.stalls.worst()?)));
    let share = |run: &RunFindings, stall: &Stall| stall.lacking / run.stalls.median;
    let worst = found.max_by(|(_, one, a), (_, other, b)| {
        share(one, a).total_cmp(&share(other, b)).then_with(|| a.largest_response_ns.cmp(&b.largest_response_ns))
    });
    let Some((point, run, stall)) = worst else { return Prose::new() };
    let mut words = prose! {
        "The worst stall was ", place(run, stall), " at ", point.run_label(run), ": ",
        happened(run, stall, findings.workload.work.many), "."
    };
    let (late, seconds) =
        (run.stalls.found.iter().filter(|stall| stall.slow_seconds == 0).count(), run.measured().len());
    if late > seconds / LONG_TAIL {
        words.extend(prose! {
            " Such response times occurred in ", late, " of the ", seconds,
            " seconds of that window: its tail is long throughout, not only at one moment."
        });
    }
    words
}

/// When, counted from time zero of the load.
fn place(run: &RunFindings, stall: &Stall) -> String {
    let start = run.window.map_or(0, |window| window.from as usize);
    match (start + stall.from, start + stall.to - 1) {
        (first, last) if first == last => format!("in second {first}"),
        (first, last) => format!("in seconds {first} to {last}"),
    }
}

/// What happened, in words.
fn happened(run: &RunFindings, stall: &Stall, many: &str) -> String {
    let mut parts = Vec::new();
    if stall.slow_seconds > 0 {
        let (lowest, median) = (short(stall.lowest), short(run.stalls.median));
        let seconds = stall.slow_seconds;
        parts.push(format!(
            "for {seconds} s throughput fell to {lowest} {many}/s, while the window's median is {median}"
        ));
    }
    let p99 = run.stalls.p99_ns.unwrap_or(u64::MAX);
    let late = stall.largest_response_ns.filter(|largest| *largest > p99.saturating_mul(TIMES_P99));
    if let Some(largest) = late.or(stall.largest_response_ns.filter(|_| stall.slow_seconds > 0)) {
        let (largest, p99) = (short(largest as f64 * 1e-6), short(p99 as f64 * 1e-6));
        parts.push(format!("the longest response time was {largest} ms, while the window's p99 is {p99} ms"));
    }
    parts.join(", and ")
}

fn table(findings: &Findings<'_>) -> Table {
    let mut rows = Vec::new();
    let mut left_out = 0;
    for (point, run) in findings.runs() {
        let mut listed: Vec<&Stall> = run.stalls.found.iter().collect();
        listed.sort_by(|a, b| {
            b.lacking.total_cmp(&a.lacking).then_with(|| b.largest_response_ns.cmp(&a.largest_response_ns))
        });
        left_out += listed.len().saturating_sub(LISTED);
        listed.truncate(LISTED);
        listed.sort_by_key(|stall| stall.from);
        rows.extend(listed.into_iter().map(|stall| (point.run_label(run), run, stall)));
    }
    let many = findings.workload.work.many;
    let why = "compared with the window's median, a single stall";
    let caption = prose!["Stalls of the measured windows, in seconds from time zero of each load."];
    TableOf::new("table-each-stall", caption, rows)
        .words("Run", |(label, ..)| label.clone())
        .words("When", |(_, run, stall)| place(run, stall))
        .words("What happened", |(_, run, stall)| happened(run, stall, many))
        .quantities("Not completed", "", |(.., stall)| {
            let seconds = Some(stall.slow_seconds as u64).filter(|seconds| *seconds > 0)?;
            Some(Quantity::new(stall.lacking.round(), Unit::named(many), seconds, Interval::none(why)))
        })
        .note(if left_out == 0 { Prose::new() } else { prose![left_out, " smaller ones are omitted."] })
}
