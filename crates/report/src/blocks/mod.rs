//! The document without any format: what sections produce and renderers consume. May not know HTML, Markdown or a record.

mod block;
mod chart;
mod document;
mod inline;
mod table;
mod table_of;

pub(crate) use block::{Block, Figure, Notice};
pub(crate) use chart::{
    Axis, Band, BandKind, Bar, Bars, Chart, Diagram, DiagramBox, DotRows, Group, Heat, Panel, Role, Rule, Sample,
    Scale, Series, Stack, Stacks, Strips,
};
pub(crate) use document::{Document, Numbering, Opening, OpeningState, SectionBlocks, SectionPlace};
pub(crate) use inline::prose;
pub(crate) use inline::{Detail, Inline, Prose};
pub(crate) use table::{Align, Cell, Column, SampleSizes, Table};
pub(crate) use table::{cells, columns};
pub(crate) use table_of::TableOf;
