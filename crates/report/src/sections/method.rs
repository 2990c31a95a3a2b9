//! The procedure in words, with this study's own numbers, and the definitions of what is printed.

use crate::blocks::{Block, Inline, Prose, prose};
use crate::findings::{Findings, HostClaims, level_number};
use crate::numbers::percent;
use crate::workloads::{ABSENT, GIVEN};
use proofload_model::setting_words::RunOrder;
use proofload_model::study::{Procedure, preconditioning, procedure, values_of};
use proofload_model::units::duration_words;
use std::time::Duration;

pub(super) fn render(findings: &Findings<'_>) -> Vec<Block> {
    let mut blocks = Vec::new();
    blocks.extend(load(findings));
    let chosen = super::facts::in_full::named(findings, findings.workload.facts);
    if !chosen.is_empty() {
        blocks.push(Block::KeyValues(chosen));
    }
    if let Ok(procedure) = procedure(&findings.record.study.settings) {
        blocks.push(Block::Paragraph(prose!["Every run of every point went through the same steps:"]));
        blocks.push(Block::Steps(steps(findings, &procedure)));
    }
    blocks.push(Block::Paragraph(order(findings)));
    blocks.push(Block::Heading(prose!["What the figures mean"]));
    blocks.push(Block::KeyValues(definitions(findings)));
    blocks
}

/// What the workload is, and what its settings make of it.
fn load(findings: &Findings<'_>) -> Vec<Block> {
    let workload = findings.workload;
    let mut words = marked(workload.description);
    for (path, value, sentence) in workload.choices {
        if is_chosen(findings, path, value) {
            words.extend(if words.is_empty() { Prose::new() } else { prose![" "] });
            words.extend(marked(sentence));
        }
    }
    if words.is_empty() { Vec::new() } else { vec![Block::Paragraph(words)] }
}

/// Whether a setting has this value at some point of the study.
fn is_chosen(findings: &Findings<'_>, path: &str, value: &str) -> bool {
    let study = &findings.record.study;
    let varies = findings.factors.iter().any(|factor| factor.varies(path));
    let given = varies || study.settings.get(path).is_some_and(|set| level_number(set) != Some(0.0));
    match value {
        ABSENT => !given,
        GIVEN => given,
        value => values_of(path, &study.settings, &findings.factors).iter().any(|set| set.to_string() == value),
    }
}

/// Words of ours in which names are set as code in backquotes.
fn marked(text: &'static str) -> Prose {
    let pieces = text.split('`').enumerate().filter(|(_, piece)| !piece.is_empty());
    let inline = |(place, piece): (usize, &'static str)| {
        if place % 2 == 1 { Inline::Code(piece.to_owned()) } else { Inline::Text(piece) }
    };
    pieces.map(inline).collect()
}

fn time(span: Duration) -> String {
    duration_words(span).replace(' ', "\u{a0}")
}

fn steps(findings: &Findings<'_>, procedure: &Procedure) -> Vec<Prose> {
    let settings = &findings.record.study.settings;
    let mut steps = Vec::new();
    if let Ok(Some(how)) = preconditioning(settings, None) {
        let target = how.device.clone().unwrap_or_else(|| format!("a file of {}", how.size));
        steps.push(prose! {
            "Once, before the first run: ", target, " was preconditioned with fio, ", how.sequential_fills,
            " sequential fills and ", how.random_passes, " passes of random writes; fio's own output is in the record."
        });
    }
    steps.push(if procedure.restore_every_run {
        prose!["The data were restored from the snapshot taken after loading, and the page cache of their files was dropped."]
    } else {
        prose! {
            "The data were left as changed by the previous run (",
            Inline::Code("procedure.restore = \"never\"".to_owned()), "), so runs depend on their order."
        }
    });
    steps.push(prose![
        "Limits and the engine's settings were applied and read back. The instance was started, and the \
        virtual users connected before the load began."
    ]);
    if super::checks::rounds::any(findings) {
        steps.extend(super::checks::rounds::steps(findings, &percent(procedure.drift_tolerance)));
    }
    if !super::checks::rounds::all(findings) {
        steps.extend(if procedure.precision.is_some() { load_steps(procedure) } else { window_steps(procedure) });
    }
    steps.push(prose! {
        "Verification: limits again, ", findings.workload.verification,
        ", the sums of all intervals against the clients' own totals. A failure voids the run. Failed operations are \
         allowed up to ", percent(procedure.error_budget),
        ". Figures count as those of a quiet host where others were observed and took up to ",
        percent(procedure.steal_tolerance),
        " of the CPU and of the device's time, or where a limit of the study was always reached.",
        HostClaims::of(findings).behind_the_rule()
    });
    steps
}

/// Warm-up and measurement of a run whose load is judged by the movement that is shown in it.
fn load_steps(procedure: &Procedure) -> [Prose; 2] {
    let warm_up = &procedure.warm_up;
    let begin = if procedure.has_fixed_warm_up() {
        prose!["Warm-up: ", time(warm_up.at_least), ", a fixed time."]
    } else {
        prose! {
            "Warm-up: at least ", time(warm_up.at_least),
            ", until a detector declared the load steady (drift and remainder within ±", percent(warm_up.tolerance),
            "), at most ", time(warm_up.at_most), "; a load that had not settled by then was measured anyway."
        }
    };
    let measured = prose! {
        "Measurement of ", time(procedure.measure), " in intervals of one second. If throughput still moved at the \
         start, the first eighth or quarter was discarded. A significant movement in the rest of more than ",
        percent(procedure.drift_tolerance), " of the mean voids the run; a change that reverts is noise. Intervals \
         come from the means of twenty parts with their dependence counted, and reach to the last level where \
         throughput may have moved. A point with an interval of up to ±",
        percent(procedure.precision.unwrap_or_default()),
        " is valid, with a larger one valid and wide, and void where noise alone makes it more than ±30 %."
    };
    [begin, measured]
}

/// Warm-up and measurement of a run that is rated by a window, by the rule of records from before.
fn window_steps(procedure: &Procedure) -> [Prose; 2] {
    let warm_up = &procedure.warm_up;
    [
        prose! {
            "Warm-up: at least ", time(warm_up.at_least), ", at most ", time(warm_up.at_most),
            ". It ended when throughput over the last five rounds of ", time(warm_up.round),
            " or more was steady: drift within ±", percent(warm_up.tolerance),
            " of the mean by its 95 % confidence interval, and no more than ", percent(warm_up.tolerance),
            " expected by a fitted exponential. A run that did not become steady is void as “never settled”."
        },
        prose! {
            "Measurement over a fixed window of ", time(procedure.measure),
            " in intervals of one second. Afterwards the window was judged again: a drift or a step of more than ",
            percent(procedure.drift_tolerance), " of its mean voids the run, regardless of the earlier result."
        },
    ]
}

fn order(findings: &Findings<'_>) -> Prose {
    let study = &findings.record.study;
    let given = RunOrder::is_given(&study.settings);
    let mut words = if given {
        prose![
            "Points were run in the order of the study file, so a slow change of the testbed would look like an effect of the factor."
        ]
    } else {
        prose![
            "Points were run in an order shuffled by the study's seed, so that a slow change of the testbed does not look like an effect of the factor."
        ]
    };
    words.extend(match study.repetitions() {
        1 => prose![
            " Each point was run once: confidence intervals describe the variation within that run, based on its \
             autocorrelated seconds, not the variation between repetitions."
        ],
        many => prose! {
            " Each point was run ", many,
            " times; confidence intervals include the variation between runs and within them."
        },
    });
    words.extend(match &findings.sentinels {
        None => prose![" No sentinel point was repeated, so drift of the testbed over the study was not measured."],
        Some(_) => prose! {
            " A sentinel point was repeated during the study; ", Inline::Reference("validity"),
            " shows whether it drifted."
        },
    });
    words
}

fn definitions(findings: &Findings<'_>) -> Vec<(Prose, Prose)> {
    let mut pairs: Vec<(Prose, Prose)> =
        findings.workload.definitions.iter().map(|(term, meaning)| (prose![*term], marked(meaning))).collect();
    pairs.push((
        prose!["Response time"],
        prose![
            "Time from the intended start to the completion. Percentiles come from merged HDR histograms with \
            three significant digits."
        ],
    ));
    pairs.push((
        prose!["Share of the largest"],
        prose![
            "Throughput in per cent of the largest of all valid points, with the \
        confidence interval of the ratio of the two means."
        ],
    ));
    pairs.push((prose!["Confidence interval"], prose![
        "95 %. For means of seconds: a block bootstrap that respects their autocorrelation; over repetitions: Student's t over the runs' means, never less than the error within runs. Intervals of shares, such as CPU, end at 0 and 100 %."
    ]));
    pairs.push((
        prose!["n"],
        prose! {
            "The number of samples: seconds for rates, ", findings.workload.work.many,
            " for response times, readings for counters."
        },
    ));
    pairs
}
