//! Audits of the drawn inputs, a row for each: limits, size of the sample, what was observed, how likely that is by chance, verdict.

use crate::blocks::{Cell, Table, TableOf, prose};
use crate::findings::Findings;
use proofload_model::samples::{AuditedSample, CheckOutcome};

/// The table; `None` where no run has such audits.
pub(crate) fn table(findings: &Findings<'_>) -> Option<Table> {
    let rows = findings.runs().flat_map(|(point, run)| {
        let audits = run.checks.iter().filter_map(|check| Some((check, check.sample.as_ref()?)));
        audits.map(move |(check, sample)| (point.run_label(run), check, sample))
    });
    let caption = prose!["Audits of the drawn inputs against their prescribed distribution, from the clients' counts."];
    TableOf::new("table-input-audits", caption, rows)
        .words("Run", |(run, ..)| run.clone())
        .words("Audit", |(_, check, _)| check.name.clone())
        .words("Limits", |(.., sample)| sample.limits.clone())
        .counts("n", |(.., sample)| sample.n)
        .words("Observed", |(.., sample)| sample.observed.clone())
        .words("p", |(.., sample)| sample.p.map_or(Cell::Gap("no samples".to_owned()), |p| Cell::datum(chance(p))))
        .words("Verdict", |(_, check, sample)| verdict(sample, check.outcome))
        .note(prose![
            "p: the probability that chance alone deviates this far from the prescribed distribution. Inputs are \
             never steered towards the limits, so even a correct generator misses some of them in short runs. Outside \
             a limit with p of at least 10⁻⁶, the sample is too small to decide; with a smaller p, the run is void."
        ])
        .filled()
}

/// Two digits; a zero is a number too small to be told.
fn chance(p: f64) -> String {
    match p {
        p if p >= 0.001 => format!("{p:.3}"),
        p if p > 0.0 => format!("{p:.1e}"),
        _ => "below 1e-300".to_owned(),
    }
}

fn verdict(sample: &AuditedSample, outcome: CheckOutcome) -> Cell {
    match outcome {
        CheckOutcome::Met => Cell::Verdict(true, "met"),
        CheckOutcome::Failed => Cell::Verdict(false, "invalid"),
        CheckOutcome::TooSmall => Cell::Prose(prose![format!("outside, sample too small (n = {})", sample.n)]),
        CheckOutcome::NotApplicable => Cell::Prose(prose!["does not apply"]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chances_have_two_digits_or_three_places() {
        let found = [0.5, 0.0012, 3.21e-7, 0.0].map(chance);
        assert_eq!(found, ["0.500", "0.001", "3.2e-7", "below 1e-300"]);
    }
}
