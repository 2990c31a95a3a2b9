//! What protection costs: modes of replication beside each other, where the time goes, which role pays, and to what throughput answers.

use super::super::section::{Section, SectionPlace, always};
use super::{answer, forecast, links, modes, nodes, proof, published, slopes, split, two_ratios};
use crate::blocks::{Block, Inline, Prose, prose};
use crate::findings::Findings;
use crate::findings::replication::{MODE, ReplicatedPoint, replicated};
use crate::sections::facts::standby_hosts;

/// The section.
pub(in crate::sections) const SECTION: Section = Section {
    id: "replication",
    title: "What protection costs",
    level: 3,
    place: SectionPlace::Paper,
    needs: always,
    render,
};

fn render(findings: &Findings<'_>) -> Vec<Block> {
    let points = replicated(findings);
    if points.is_empty() {
        return Vec::new();
    }
    let mut blocks = vec![Block::Paragraph(answer(findings)), Block::Table(modes::table(findings, &points))];
    blocks.extend(modes::too_few_warehouses(findings, &points));
    blocks.extend(two_ratios::blocks(findings));
    blocks.extend(published::blocks(findings, &points));
    let details = details(findings, &points);
    if findings.drilled.is_empty() {
        blocks.extend(details);
    } else {
        blocks.push(Block::Fold(prose!["Commit waits and resource use of each node"], details));
    }
    blocks.push(Block::Paragraph(proof::proved(findings, &points)));
    blocks.push(Block::Paragraph(limits_of_this(findings)));
    blocks
}

/// Where the time goes and which node pays: the subject of a study of modes, beside the point in one of faults.
fn details(findings: &Findings<'_>, points: &[ReplicatedPoint]) -> Vec<Block> {
    let mut blocks = forecast::blocks(findings, points);
    blocks.extend(split::blocks(findings, points));
    blocks.push(Block::Table(nodes::table(findings, points)));
    blocks.extend(nodes::devices(findings, points));
    blocks.extend(nodes::behind(findings, points));
    blocks.extend(links::table(findings, points));
    blocks.extend(nodes::roles_figure(findings, points));
    blocks.extend(slopes::blocks(findings, points));
    blocks
}

fn limits_of_this(findings: &Findings<'_>) -> Prose {
    let nodes = if standby_hosts::apart(findings).is_empty() {
        "All nodes share this host, its cores and its device: a standby takes resources from the primary, and both \
         flush to the same device. Apart from the missing network, the throughput kept here is a lower bound for \
         separate machines. "
    } else {
        "Each standby has its own host. Users connected to the primary over the network at every point, also without \
         standbys. "
    };
    prose![nodes, Inline::Code(MODE.to_owned()), " is defined in the reference of settings."]
}
