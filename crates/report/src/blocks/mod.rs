//! The document without any format: what sections produce and renderers consume. May not know HTML, Markdown or a record.

mod block;
mod chart;
mod document;
mod inline;
mod table;

pub use block::{Block, Figure, Notice};
pub use chart::{Axis, Band, BandKind, Bar, Bars, Chart, Group, Heat, Panel, Role, Rule, Sample, Scale, Series};
pub use document::{Document, Numbering, SectionBlocks};
pub(crate) use inline::prose;
pub use inline::{Inline, Prose};
pub use table::{Align, Cell, Column, SampleSizes, Table};
