//! The rating certificate of a warehouse study and what belongs to it; left out for other workloads. May not compute statistics.

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

pub(super) use calibration::SECTION as CALIBRATION;
pub(super) use capacity::SECTION as CAPACITY;
pub(super) use certificate::SECTION as CERTIFICATE;
pub(super) use layouts::{SECTION as LAYOUTS, drawn_beside};
pub(super) use queries::SECTION as QUERIES;
pub(super) use scans::SECTION as SCANS;
pub(super) use streams::SECTION as STREAMS;
