//! Memory and caches in words: from how many bytes to how many, never per cent per per cent, and through which reads they act.

use super::point::{PointAttribution, ResourceAttribution};
use super::words::interval;
use crate::numbers::{percent_end, short};
use proofload_analysis::attribution::{KnobElasticity, ResourceVerdict};
use proofload_model::settings::setting;

/// Resources that keep what need not be read again.
pub(super) const KEEPERS: &[&str] = &[setting::LIMITS_MEMORY, "engine.cache"];

/// Limits of reads.
pub(super) const READS: &[&str] = &[setting::LIMITS_READ_IOPS, setting::LIMITS_READ_BANDWIDTH];

/// Units of sizes, the largest first.
const UNITS: &[(&str, f64)] = &[("GiB", 1_073_741_824.0), ("MiB", 1_048_576.0), ("KiB", 1024.0), ("B", 1.0)];

/// Whether a resource keeps what need not be read again.
fn is_keeper(one: &ResourceAttribution) -> bool {
    KEEPERS.contains(&one.plan.name.as_str())
}

/// What the change from one size to the other costs, with its interval: `from 64 to 44.8 MiB costs 37 % of throughput [21, 49]`. `None` of
/// what is no memory, or has no visit.
pub(super) fn size_cost(one: &ResourceAttribution, elasticity: &KnobElasticity) -> Option<String> {
    let (from, to) = both_sizes(one)?;
    let lost = |elasticity: f64| (100.0 * (1.0 - (elasticity * (to / from).ln()).exp())).round();
    let (low, high) = elasticity.bounds(0.05);
    let (lost, least, most) = (lost(elasticity.value), lost(low), lost(high));
    let (verb, sign) = if lost < 0.0 { ("gives", -1.0) } else { ("costs", 1.0) };
    let signed = |percent: f64| percent_end(sign * percent);
    let (near, far) = if lost < 0.0 { (signed(most), signed(least)) } else { (signed(least), signed(most)) };
    Some(format!("{} {verb} {} % of throughput [{near}, {far}]", sizes(from, to), short(sign * lost)))
}

/// Both sizes of memory in words; `None` of what is no memory, or has no visit.
pub(crate) fn size_change(one: &ResourceAttribution) -> Option<String> {
    both_sizes(one).map(|(from, to)| sizes(from, to))
}

/// Sizes between which a resource was raised, in words; `None` of what is no memory.
pub(super) fn raised_sizes(resource: &str, (from, to): (f64, f64)) -> Option<String> {
    (KEEPERS.contains(&resource) && from > 0.0).then(|| sizes(from, to))
}

fn both_sizes(one: &ResourceAttribution) -> Option<(f64, f64)> {
    one.levels.filter(|(from, to)| is_keeper(one) && *from > 0.0 && *to > 0.0)
}

/// `from 64 to 44.8 MiB`.
fn sizes(from: f64, to: f64) -> String {
    let (unit, factor) = UNITS.iter().find(|(_, factor)| from >= *factor).copied().unwrap_or(("B", 1.0));
    format!("from {} to {} {unit}", short(from / factor), short(to / factor))
}

/// How memory acts, by what the limits of reads show: `presumably through reads (read IOPS, 0.78 [0.28, 1.28], not told apart)`. `None` where
/// reads are confirmed, which is told otherwise, and where none was lowered.
pub(super) fn through_reads(found: &PointAttribution, one: &ResourceAttribution) -> Option<String> {
    if !is_keeper(one) {
        return None;
    }
    let is_read = |other: &&ResourceAttribution| READS.contains(&other.plan.name.as_str()) && other.throughput.is_ok();
    let reads: Vec<&ResourceAttribution> = found.resources.iter().filter(is_read).collect();
    let of_verdict = |wanted: fn(&ResourceVerdict) -> bool| {
        let each = reads.iter().filter(|other| wanted(&other.decision.verdict));
        each.filter_map(|other| {
            let elasticity = other.throughput.as_ref().ok()?;
            Some(format!("{}, elasticity {}, {}", other.title, interval(elasticity), other.decision.verdict.word()))
        })
        .collect::<Vec<_>>()
        .join("; ")
    };
    if reads.is_empty() || reads.iter().any(|other| other.decision.verdict == ResourceVerdict::Confirmed) {
        return None;
    }
    let part = of_verdict(|verdict| *verdict == ResourceVerdict::Contributes);
    let open = of_verdict(|verdict| matches!(verdict, ResourceVerdict::NotToldApart { .. }));
    Some(match (part.is_empty(), open.is_empty()) {
        (false, _) => format!("in part through reads ({part})"),
        (true, false) => format!("presumably through reads ({open})"),
        (true, true) => "not through the reads that were lowered".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sizes_are_told_in_the_unit_of_the_larger() {
        assert_eq!(sizes(67_108_864.0, 46_972_928.0), "from 64 to 44.8 MiB");
        assert_eq!(sizes(1_073_741_824.0, 858_993_459.2), "from 1 to 0.8 GiB");
        assert_eq!(sizes(1000.0, 800.0), "from 1,000 to 800 B");
    }
}
