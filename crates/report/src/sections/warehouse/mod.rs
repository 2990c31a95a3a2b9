//! The rating certificate of a warehouse study and what belongs to it. May not compute statistics.

mod calibration;
mod capacity;
mod certificate;
mod costs;
mod host;
mod layouts;
mod own;
mod parts;
mod queries;
mod query_dots;
mod scans;
mod streams;

pub(super) use layouts::drawn_beside;
pub(super) use own::SECTIONS;
