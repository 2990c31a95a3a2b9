//! The main table of results.

use super::charts::{MetricColumn, milliseconds, points_table};
use super::section::{Section, a_finished_run};
use crate::blocks::{Block, prose};
use crate::findings::{Findings, Measured, PointFindings};

/// The section.
pub(super) const SECTION: Section =
    Section { id: "results", title: "Results", level: 2, numbered: true, needs: a_finished_run, render };

fn render(findings: &Findings<'_>) -> Vec<Block> {
    let metric = |name: &'static str| move |point: &PointFindings| -> Measured { point.metric(name) };
    let tpcc = findings.kinds().iter().any(|kind| kind == "new_order");
    let (tpm, nopm, stored, cpu) = (metric("tpm"), metric("nopm"), metric("nopm_database"), metric("cpu_percent"));
    let relative = |point: &PointFindings| point.relative.clone();
    let name = if tpcc { "response_ns_p99.new_order" } else { "response_ns_p99.all" };
    let p99 = |point: &PointFindings| milliseconds(point.metric(name));
    let mut columns = vec![MetricColumn { title: "TPM", unit: "per minute", of: &tpm }];
    if tpcc {
        columns.push(MetricColumn { title: "NOPM, client", unit: "per minute", of: &nopm });
        columns.push(MetricColumn { title: "NOPM, database", unit: "per minute", of: &stored });
    }
    columns.push(MetricColumn { title: "Of the largest", unit: "%", of: &relative });
    columns.push(MetricColumn { title: "CPU", unit: "%", of: &cpu });
    columns.push(MetricColumn { title: if tpcc { "New-Order p99" } else { "p99" }, unit: "ms", of: &p99 });
    let mut table = points_table(findings, &columns);
    table.id = "table-results";
    table.caption = prose!["Results by point, with 95 % confidence intervals and the number of samples."];
    table.note = prose![
        "Values of void points are what was observed in their window; they are context, not results. TPM counts completed \
         transactions of all types, those rolled back by design included and failures excluded. CPU is the mean over the cores that the database may run on."
    ];
    vec![Block::Table(table)]
}
