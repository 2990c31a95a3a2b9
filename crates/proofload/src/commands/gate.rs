//! `gate` decides whether a candidate may pass. The rules are those of `report::findings::comparison`; here they are
//! read and get their exit code.

use super::compare::{Failure, Records, expect_known_ending, format, is_json, levels, terminal_columns};
use super::pair_files::{PairQuestion, expect_answerable};
use super::target;
use crate::cli_gate::{GateArguments, GatePolicy, NotInTurnsPolicy};
use crate::exit::Exit;
use crate::output;
use proofload_report::findings::comparison::{ComparisonFilter, GateOutcome, NotInTurns, Policy, Rules, gate};
use proofload_report::metrics::MetricKey;
use proofload_report::workloads::workload;
use proofload_report::{gate_for_terminal, render_gate};
use std::collections::BTreeMap;

/// Judges.
pub(crate) fn run(arguments: &GateArguments) -> Exit {
    match carry_out(arguments) {
        Ok(exit) => exit,
        Err((exit, text)) => output::failure(is_json(&arguments.pair), exit, &text),
    }
}

fn carry_out(arguments: &GateArguments) -> Result<Exit, Failure> {
    let pair = &arguments.pair;
    let rules = rules(arguments)?;
    expect_known_ending(pair)?;
    let levels = levels(pair)?;
    let mut metrics: Vec<String> = arguments.metrics.iter().map(|text| name_of(text).to_owned()).collect();
    expect_tolerances(&rules, &metrics)?;
    expect_answerable(pair, &PairQuestion { metrics: &metrics, levels: &levels, is_judged: true })?;
    let records = Records::read(pair)?;
    if metrics.is_empty() {
        metrics.push(workload(&records.baseline().study.settings).headline.name.to_owned());
    }
    let comparison = records.compare(&ComparisonFilter { metrics, levels })?;
    let gate = gate(&comparison, &rules).map_err(|error| (Exit::Usage, error.to_string()))?;
    let text = match terminal_columns(pair) {
        Some(columns) => gate_for_terminal(&comparison, &gate, &rules, columns),
        None => render_gate(&comparison, &gate, &rules, format(pair)),
    };
    target::write(pair.output.as_deref(), pair.overwrite, &text).map_err(|text| (Exit::Failure, text))?;
    Ok(match gate.outcome {
        _ if gate.passes => Exit::Good,
        GateOutcome::Undecided => Exit::GateUndecided,
        GateOutcome::Passed | GateOutcome::Failed => Exit::GateFailed,
    })
}

fn rules(arguments: &GateArguments) -> Result<Rules, Failure> {
    let own = arguments.metrics.iter().filter_map(|text| text.split_once('='));
    let own = own.map(|(name, percent)| Ok((key(name.trim()), tolerance(percent)?)));
    Ok(Rules {
        tolerance: arguments.tolerance.as_deref().map(tolerance).transpose()?,
        of_metric: own.collect::<Result<BTreeMap<String, f64>, Failure>>()?,
        undecided: policy(arguments.undecided),
        void: policy(arguments.void),
        not_in_turns: match arguments.not_in_turns {
            NotInTurnsPolicy::Warn => NotInTurns::Warn,
            NotInTurnsPolicy::Undecided => NotInTurns::Undecided,
        },
        lost: arguments.lost,
    })
}

/// The name as the metric itself has it: there may be several for one.
fn key(name: &str) -> String {
    let known = || name.parse::<MetricKey>().ok().map(|key| key.to_string());
    if name.ends_with(".*") { name.to_owned() } else { known().unwrap_or_else(|| name.to_owned()) }
}

/// Refuses a metric that has neither a tolerance of its own nor the one for all.
fn expect_tolerances(rules: &Rules, metrics: &[String]) -> Result<(), Failure> {
    if rules.tolerance.is_some() {
        return Ok(());
    }
    let has_own = |name: &&String| {
        let family = name.rsplit_once('.').map(|(family, _)| format!("{family}.*"));
        rules.of_metric.contains_key(&key(name)) || family.is_some_and(|family| rules.of_metric.contains_key(&family))
    };
    match metrics.iter().find(|name| !has_own(name)) {
        Some(name) => Err((
            Exit::Usage,
            format!("the metric {name} has no tolerance; use --metric {name}=3%, or --tolerance 3% for all metrics"),
        )),
        None if metrics.is_empty() => Err((
            Exit::Usage,
            "no tolerance is given; use --tolerance 3%, or one for each metric, such as --metric throughput=3%"
                .to_owned(),
        )),
        None => Ok(()),
    }
}

fn name_of(text: &str) -> &str {
    text.split_once('=').map_or(text, |(name, _)| name).trim()
}

/// `3%` as 0.03; at least 0 and below 100 %.
fn tolerance(text: &str) -> Result<f64, Failure> {
    let number = text.trim().strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
    let share = number.map(|percent| percent / 100.0).filter(|share| (0.0..1.0).contains(share));
    share.ok_or_else(|| {
        (Exit::Usage, format!("{text:?} is not a tolerance; use a percentage from 0% to below 100%, such as 3%"))
    })
}

const fn policy(policy: GatePolicy) -> Policy {
    match policy {
        GatePolicy::Pass => Policy::Pass,
        GatePolicy::Fail => Policy::Fail,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{Arguments, Command};
    use clap::Parser;

    #[test]
    fn a_tolerance_is_a_percentage() {
        let of = |text: &str| tolerance(text).ok();
        assert_eq!((of("3%"), of("2.5 %"), of("0%")), (Some(0.03), Some(0.025), Some(0.0)));
        for wrong in ["3", "0.03", "100%", "-1%", "%", "NaN%", "inf%", ""] {
            assert_eq!(of(wrong), None, "{wrong}");
        }
        assert_eq!(name_of("response_ns_p99.read = 10%"), "response_ns_p99.read");
    }

    #[test]
    fn a_tolerance_for_all_is_needed_where_a_metric_has_none() {
        let refused = |line: &str| {
            let Ok(Arguments { command: Command::Gate(gate) }) = Arguments::try_parse_from(line.split(' ')) else {
                panic!("{line} is not taken")
            };
            let names: Vec<String> = gate.metrics.iter().map(|text| name_of(text).to_owned()).collect();
            expect_tolerances(&rules(&gate).expect("percentages"), &names).err().map(|(_, text)| text)
        };
        for good in
            ["--tolerance 3%", "--metric throughput=3%", "--metric a.*=3% --metric a.b", "--tolerance 3% --metric a"]
        {
            assert_eq!(refused(&format!("proofload gate a.proof b.proof {good}")), None, "{good}");
        }
        let none = refused("proofload gate a.proof b.proof").expect("it has none");
        assert!(none.contains("use --tolerance 3%"), "{none}");
        let one = refused("proofload gate a.proof b.proof --metric a=3% --metric b").expect("b has none");
        assert!(one.contains("the metric b has no tolerance"), "{one}");
    }
}
