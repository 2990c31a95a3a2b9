//! The main table of results.

pub(super) mod blocks;
pub(super) mod offered;

use super::charts::points_with;
use crate::blocks::{Block, Column, Table, prose};
use crate::findings::Findings;
use crate::findings::warehouse::rating;
use crate::metrics::{MetricName, TPM_ENGINE, TPM_ENGINE_RATIO};

pub(super) fn render(findings: &Findings<'_>) -> Vec<Block> {
    let table = Block::Table(results_table(findings));
    // A rating certificate before this section has the same figures.
    let is_rated = findings.points.iter().any(|point| rating(findings, point).is_some());
    let mut blocks = match is_rated {
        true => vec![Block::Fold(prose!["Results by point"], vec![table])],
        false => vec![table],
    };
    blocks.extend(blocks::paragraph(findings));
    blocks.extend(offered::whole_run(findings));
    blocks.extend(offered::offered(findings));
    blocks
}

/// Every point with its main figures.
pub(crate) fn results_table(findings: &Findings<'_>) -> Table {
    let kinds = findings.kinds();
    let met = |column: &&MetricName| column.kind().is_none_or(|kind| kinds.contains(&kind));
    let of_engine = |column: &&MetricName| [TPM_ENGINE.name, TPM_ENGINE_RATIO.name].contains(&column.name);
    let is_told = |column: &&MetricName| findings.points.iter().any(|point| point.metrics.contains_key(&column.key()));
    let columns = findings.workload.results.iter().filter(met).filter(|column| !of_engine(column) || is_told(column));
    let columns = columns.map(|metric| (Column::metric(metric), metric.key()));
    let has_estimands = findings.points.iter().any(|point| point.estimand.is_some());
    let caption = prose!["Results by point, with 95 % confidence intervals and the number of samples."];
    points_with("table-results", caption, findings, columns)
        .when(has_estimands, |table| table.words("Estimand", |point| point.estimand_name()))
        .verdict()
        .note(prose![findings.workload.results_note])
}
