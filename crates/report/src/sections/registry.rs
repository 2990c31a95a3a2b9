//! The tables of sections: those of every paper, and those that a workload adds. One line adds one.

use super::section::{Section, SectionPlace, a_finished_run, always};
use super::warehouse::{calibration, capacity, certificate, layouts, queries, scans, streams};
use super::{attribution, bottleneck, cache_tier, checks, conclusion, departures, disclosure, facts, failures};
use super::{latency, method, pacing, reference, resources, results, search, tested, throughput, timeline, validity};
use crate::blocks::Block;
use crate::findings::Findings;
use SectionPlace::{Appendix, Paper};

/// Sections that papers of all workloads share, in their order.
pub(crate) const SECTIONS: &[Section] = &[
    row(Paper, 2, "tested", "What was tested", always, tested::render),
    row(Appendix, 2, "method", "How it was measured", always, method::render),
    row(Paper, 2, "search", "Search", always, search::render),
    row(Paper, 2, "results", "Results", a_finished_run, results::render),
    super::replication::SECTION,
    row(Paper, 3, "cache-tier", "Benefit of the cache", always, cache_tier::render),
    super::drills::SECTION,
    row(Paper, 3, "pacing", "Pacing", always, pacing::render),
    row(Appendix, 3, "curve", "Shape of the curve", throughput::needs, throughput::render),
    row(Paper, 3, "reference", "Comparison with results of others", reference::needs, reference::render),
    row(Paper, 3, "resources", "Storage and CPU", a_finished_run, resources::render),
    row(Appendix, 3, "efficiency", "Efficiency", always, resources::efficiency::render),
    row(Paper, 3, "latency", "Response times", a_finished_run, latency::render),
    row(Paper, 3, "failures", "Failures", always, failures::render),
    row(Paper, 3, "timeline", "Second by second", a_finished_run, timeline::render),
    row(Paper, 3, "stalls", "Stalls", always, timeline::stalls::render),
    row(Appendix, 3, "cores", "Core by core", resources::cores::needs, resources::cores::render),
    row(Paper, 2, "attribution", "What bound throughput, tested by intervention", always, attribution::render),
    row(Paper, 2, "bottleneck", "What limited throughput", a_finished_run, bottleneck::render),
    row(Paper, 2, "validity", "Validity", always, validity::render),
    row(Paper, 2, "conclusion", "Conclusion", always, conclusion::render),
    row(Appendix, 2, "facts", "Set-up in full", always, facts::in_full::render),
    row(Appendix, 2, "checks", "Runs, checks and audits", always, checks::render),
    row(Appendix, 2, "disclosure", "Full disclosure", always, disclosure::render),
];

/// One line of the tables: the fields of a section in the order of their declaration, but its place and level first.
const fn row(
    place: SectionPlace,
    level: u8,
    id: &'static str,
    title: &'static str,
    needs: fn(&Findings<'_>) -> Result<(), String>,
    render: fn(&Findings<'_>) -> Vec<Block>,
) -> Section {
    Section { id, title, level, place, needs, render }
}

/// Section of one workload.
struct OwnSection {
    /// Shared section that it follows, by its `id`.
    after: &'static str,
    /// The section.
    section: Section,
}

const fn own(after: &'static str, section: Section) -> OwnSection {
    OwnSection { after, section }
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
    Contribution { kind: "tprocc", sections: OF_TPROCC, draws_references: |_| false },
    Contribution { kind: "warehouse", sections: OF_WAREHOUSE, draws_references: super::warehouse::drawn_beside },
];

const OF_TPROCC: &[OwnSection] =
    &[own("method", row(Appendix, 2, "departures", "Departures from the clauses", always, departures::render))];

const OF_WAREHOUSE: &[OwnSection] = &[
    own("tested", row(Paper, 2, "certificate", "Rating certificate", always, certificate::render)),
    own("tested", row(Paper, 3, "queries", "Queries by class and individually", always, queries::render)),
    own("tested", row(Appendix, 3, "calibration", "Calibration", always, calibration::render)),
    own("tested", row(Paper, 3, "scans", "Scan rates and compression", always, scans::render)),
    own("tested", row(Paper, 3, "layouts", "Row store and column store", always, layouts::render)),
    own("tested", row(Appendix, 3, "streams", "Throughput by streams", always, streams::render)),
    own("tested", row(Paper, 3, "capacity", "User data capacity", always, capacity::render)),
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
