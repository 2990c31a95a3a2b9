//! Audits of the drawn inputs, a row for each: limits, size of the sample, what was observed, how likely that is by chance, verdict.

use crate::blocks::{Cell, Table, cells, columns, prose};
use crate::findings::Findings;
use proofload_model::samples::{AuditedSample, CheckOutcome};

/// The table; `None` where no run has such audits.
pub(super) fn table(findings: &Findings<'_>) -> Option<Table> {
    let mut rows = Vec::new();
    for point in &findings.points {
        for run in &point.runs {
            for check in &run.checks {
                if let Some(sample) = &check.sample {
                    rows.push(row(point.run_label(run), &check.name, sample, check.outcome));
                }
            }
        }
    }
    (!rows.is_empty()).then(|| Table {
        id: "table-input-audits",
        caption: prose!["Audits of the drawn inputs against their prescribed distribution, from the clients' counts."],
        columns: columns! {
            words("Run"), words("Audit"), words("Limits"), counts("n"), words("Observed"), words("p"), words("Verdict")
        },
        rows,
        note: prose![
            "p: the probability that chance alone deviates this far from the prescribed distribution. Inputs are \
             never steered towards the limits, so even a correct generator misses some of them in short runs. Outside \
             a limit with p of at least 10⁻⁶, the sample is too small to decide; with a smaller p, the run is void."
        ],
    })
}

fn row(run: String, audit: &str, sample: &AuditedSample, outcome: CheckOutcome) -> Vec<Cell> {
    cells! {
        run, audit.to_owned(), sample.limits.clone(), Cell::Count(sample.n), sample.observed.clone(),
        sample.p.map_or(Cell::Gap("no samples".to_owned()), |p| Cell::datum(chance(p))), verdict(sample, outcome)
    }
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
