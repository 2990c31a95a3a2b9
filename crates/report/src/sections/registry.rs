//! The lists of sections: those of every paper, and those that a workload adds. One line adds one.

use super::section::Section;
use crate::findings::Findings;

/// Sections that papers of all workloads share, in their order.
pub(crate) const SECTIONS: &[Section] = &[
    super::tested::SECTION,
    super::method::SECTION,
    super::search::SECTION,
    super::results::SECTION,
    super::replication::SECTION,
    super::cache_tier::SECTION,
    super::drills::SECTION,
    super::pacing::SECTION,
    super::throughput::SECTION,
    super::reference::SECTION,
    super::resources::SECTION,
    super::efficiency::SECTION,
    super::latency::SECTION,
    super::failures::SECTION,
    super::timeline::SECTION,
    super::stalls::SECTION,
    super::cores::SECTION,
    super::attribution::SECTION,
    super::bottleneck::SECTION,
    super::validity::SECTION,
    super::conclusion::SECTION,
    super::facts_in_full::SECTION,
    super::checks::SECTION,
    super::disclosure::SECTION,
];

/// Section of one workload.
pub(super) struct OwnSection {
    /// Shared section that it follows, by its `id`.
    pub(super) after: &'static str,
    /// The section.
    pub(super) section: Section,
}

/// What one workload adds to the paper.
struct Contribution {
    /// `workload.kind`.
    kind: &'static str,
    /// Sections, in their order.
    sections: &'static [OwnSection],
    /// True where they draw the published results, so that the shared section points at them.
    draws_references: fn(&Findings<'_>) -> bool,
}

/// Contributions of all workloads that add anything.
const CONTRIBUTIONS: &[Contribution] = &[
    Contribution { kind: "tprocc", sections: super::departures::SECTIONS, draws_references: |_| false },
    Contribution {
        kind: "warehouse",
        sections: super::warehouse::SECTIONS,
        draws_references: super::warehouse::drawn_beside,
    },
];

/// Tells whether published results are drawn in a section of the workload's own.
pub(super) fn draws_references(findings: &Findings<'_>) -> bool {
    contribution(findings.workload.kind).is_some_and(|own| (own.draws_references)(findings))
}

fn contribution(kind: &str) -> Option<&'static Contribution> {
    CONTRIBUTIONS.iter().find(|own| own.kind == kind)
}

/// Sections of a paper about a workload, in their order.
pub(super) fn sections(kind: &str) -> impl Iterator<Item = &'static Section> {
    let own: &'static [OwnSection] = contribution(kind).map_or(&[], |own| own.sections);
    SECTIONS.iter().flat_map(move |shared| {
        let following = own.iter().filter(|one| one.after == shared.id).map(|one| &one.section);
        std::iter::once(shared).chain(following)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workloads::WORKLOADS;

    #[test]
    fn every_section_of_a_workload_follows_a_shared_one() {
        for Contribution { kind, sections: own, .. } in CONTRIBUTIONS {
            assert!(WORKLOADS.iter().any(|workload| workload.kind == *kind), "{kind} is no workload");
            assert_eq!(sections(kind).count(), SECTIONS.len() + own.len(), "a section of {kind} follows none");
        }
        assert_eq!(sections("another").count(), SECTIONS.len());
    }
}
