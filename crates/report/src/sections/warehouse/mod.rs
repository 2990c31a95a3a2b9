//! The rating certificate of a warehouse study and what belongs to it. May not compute statistics.

mod calibration;
mod capacity;
mod certificate;
mod costs;
mod host;
mod layouts;
mod parts;
mod queries;
mod scans;
mod streams;

use super::registry::OwnSection;
use super::section::Section;
pub(super) use layouts::drawn_beside;

/// Sections of a warehouse paper, after its summary.
pub(super) const SECTIONS: &[OwnSection] = &[
    own(certificate::SECTION),
    own(queries::SECTION),
    own(calibration::SECTION),
    own(scans::SECTION),
    own(layouts::SECTION),
    own(streams::SECTION),
    own(capacity::SECTION),
];

const fn own(section: Section) -> OwnSection {
    OwnSection { after: "summary", section }
}
