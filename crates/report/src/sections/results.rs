//! The main table of results.

use super::charts::points_table;
use super::offered;
use super::section::{Section, SectionPlace, a_finished_run};
use crate::blocks::{Block, prose};
use crate::findings::Findings;
use crate::metrics::MetricName;

/// The section.
pub(super) const SECTION: Section =
    Section { id: "results", title: "Results", level: 2, place: SectionPlace::Paper, needs: a_finished_run, render };

fn render(findings: &Findings<'_>) -> Vec<Block> {
    let kinds = findings.kinds();
    let met = |column: &&MetricName| column.kind().is_none_or(|kind| kinds.iter().any(|known| known == kind));
    let columns: Vec<MetricName> = findings.workload.results.iter().filter(met).copied().collect();
    let mut table = points_table(findings, &columns);
    table.id = "table-results";
    table.caption = prose!["Results by point, with 95 % confidence intervals and the number of samples."];
    table.note = prose![findings.workload.results_note];
    let mut blocks = vec![Block::Table(table)];
    blocks.extend(super::blocks::paragraph(findings));
    blocks.extend(offered::whole_run(findings));
    blocks.extend(offered::offered(findings));
    blocks
}
