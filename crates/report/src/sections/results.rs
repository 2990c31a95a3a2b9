//! The main table of results.

use super::charts::points_table;
use super::offered;
use crate::blocks::{Block, Cell, Column, Table, prose};
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
    blocks.extend(super::blocks::paragraph(findings));
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
    let columns: Vec<MetricName> = columns.copied().collect();
    let mut table = points_table(findings, &columns);
    table.id = "table-results";
    table.caption = prose!["Results by point, with 95 % confidence intervals and the number of samples."];
    table.note = prose![findings.workload.results_note];
    add_estimands(&mut table, findings);
    table
}

/// Names what the figures of each point are figures of, before the verdict; nothing where no point tells it.
fn add_estimands(table: &mut Table, findings: &Findings<'_>) {
    if findings.points.iter().all(|point| point.estimand.is_none()) {
        return;
    }
    let place = table.columns.len().saturating_sub(1);
    table.columns.insert(place, Column::words("Estimand"));
    for (row, point) in table.rows.iter_mut().zip(&findings.points) {
        row.insert(place, point.estimand_name().map_or(Cell::Empty, Cell::datum));
    }
}
