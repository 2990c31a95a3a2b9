//! How much throughput follows the network and the CPU time of the nodes, and what that says of a single thread.

use super::modes::title;
use crate::blocks::{Block, Inline, Prose, TableOf, prose};
use crate::findings::replication::ReplicatedPoint;
use crate::findings::replication::slopes::{NONE_WITHIN, Slope, slopes};
use crate::findings::{Findings, setting_title};
use crate::numbers::short;
use proofload_model::settings::setting;
use proofload_model::study::limits_standby_thread;

/// The setting of the round trip.
const RTT: &str = setting::REPLICATION_RTT;

/// The setting of the CPU time of each standby.
const STANDBY_CPU: &str = setting::LIMITS_STANDBY_CPU;

/// The table; nothing where no such setting varies.
pub(super) fn blocks(findings: &Findings<'_>, points: &[ReplicatedPoint]) -> Option<Block> {
    let caption = prose![
        "Elasticity of throughput: its relative change per relative change of a resource, over \
                all levels of the resource."
    ];
    TableOf::new("table-slopes", caption, slopes(findings))
        .words("To", |slope| resource(findings, slope))
        .words("At", |slope| slope.at.clone())
        .counts("Points", |slope| slope.points.len())
        .quantities("Elasticity", "d ln X / d ln R", |slope| slope.elasticity.clone())
        .words("Meaning", |slope| meaning(slope, points))
        .note(prose![
            "Slope of the logarithms by least squares. With several repetitions it is computed within \
                each of them; points that are void only because throughput moved are then included."
        ])
        .filled()
        .map(Block::Table)
}

/// The resource of a slope for readers: a limit of one role by the role and, where that runs on standbys, by its side.
fn resource(findings: &Findings<'_>, slope: &Slope) -> String {
    let Some(role) = &slope.role else { return setting_title(slope.setting) };
    let side = if limits_standby_thread(&findings.record.study.settings) { " of a standby" } else { "" };
    format!("CPU seconds per second of {}{side}", title(role))
}

/// What throughput follows of the network and of the CPU time of the standbys, in words.
pub(super) fn answer(findings: &Findings<'_>, points: &[ReplicatedPoint]) -> Prose {
    [network(findings, points), standbys(findings)].concat()
}

/// Whether standbys with less CPU time hold the primary back: a sentence for each slope.
fn standbys(findings: &Findings<'_>) -> Prose {
    let sentence = |slope: &Slope| {
        let place = if slope.at.is_empty() { String::new() } else { format!("At {}: ", slope.at) };
        let (follows, end) = match slope.elasticity.value() {
            _ if slope.is_none() => ("Throughput does not depend on", ": they have enough. "),
            value if value < 0.0 => ("Throughput falls with", ": they take resources from the primary. "),
            _ => ("Throughput rises with", ": they need more of it. "),
        };
        prose![
            place,
            Inline::Strong(prose![follows, " the CPU time of the standbys"]),
            ", with an elasticity of ",
            &slope.elasticity,
            end
        ]
    };
    slopes(findings).iter().filter(|slope| slope.setting == STANDBY_CPU).flat_map(sentence).collect()
}

/// A sentence where a single thread that can do no more and a throughput that does not follow the network agree.
fn network(findings: &Findings<'_>, points: &[ReplicatedPoint]) -> Prose {
    let is_flat = |slope: &&Slope| slope.setting == RTT && slope.is_none();
    let found = slopes(findings)
        .iter()
        .filter(is_flat)
        .find_map(|slope| stage(slope, points).map(|one| (slope.elasticity.clone(), one)));
    let Some((elasticity, stage)) = found else { return Prose::new() };
    prose![
        Inline::Strong(prose!["Single-threaded stage: ", stage]),
        "; elasticity of throughput to the round trip is ",
        &elasticity,
        ", so a faster network does not help. "
    ]
}

fn meaning(slope: &Slope, points: &[ReplicatedPoint]) -> String {
    if slope.setting == RTT
        && slope.is_none()
        && let Some(stage) = stage(slope, points)
    {
        return format!("single-threaded stage: {stage}");
    }
    if slope.is_none() {
        return format!("throughput does not depend on it (within {})", short(NONE_WITHIN));
    }
    "throughput depends on it".to_owned()
}

/// The single thread that can do no more at a point of a slope.
fn stage(slope: &Slope, points: &[ReplicatedPoint]) -> Option<String> {
    let of = points.iter().filter(|one| slope.points.contains(&one.point));
    let limits = of.filter_map(|one| one.busiest_single().filter(|(_, role)| role.is_serial_limit()));
    let (node, role) = limits.max_by(|(_, a), (_, b)| a.busy().total_cmp(&b.busy()))?;
    Some(format!("{} of {node}", title(&role.role)))
}
