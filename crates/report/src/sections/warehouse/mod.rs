//! The rating certificate of a warehouse study and what belongs to it. May not compute statistics.

pub(super) mod calibration;
pub(super) mod capacity;
pub(super) mod certificate;
mod costs;
mod host;
pub(super) mod layouts;
mod parts;
pub(super) mod queries;
mod query_dots;
pub(super) mod scans;
pub(super) mod streams;

pub(super) use layouts::drawn_beside;
