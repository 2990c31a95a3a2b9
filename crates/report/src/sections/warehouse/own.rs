//! The list of sections that a warehouse paper adds: one line adds one.

use super::{calibration, capacity, certificate, layouts, queries, scans, streams};
use crate::sections::registry::OwnSection;
use crate::sections::section::Section;

/// Sections of a warehouse paper, after its summary.
pub(in crate::sections) const SECTIONS: &[OwnSection] = &[
    own(certificate::SECTION),
    own(queries::SECTION),
    own(calibration::SECTION),
    own(scans::SECTION),
    own(layouts::SECTION),
    own(streams::SECTION),
    own(capacity::SECTION),
];

const fn own(section: Section) -> OwnSection {
    OwnSection { after: "tested", section }
}
