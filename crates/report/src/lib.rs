//! Analysis, findings, sections, renderers: a paper from a record.

pub mod analysis;
