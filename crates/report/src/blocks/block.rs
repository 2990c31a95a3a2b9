//! The parts of a section.

use super::chart::Chart;
use super::inline::Prose;
use super::table::Table;

/// One part of a section.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Block {
    /// A heading, one level below the section's own.
    Heading(Prose),
    /// A paragraph.
    Paragraph(Prose),
    /// A larger opening paragraph.
    Lead(Prose),
    /// Items without an order.
    List(Vec<Prose>),
    /// Items in order.
    Steps(Vec<Prose>),
    /// Names and what belongs to them.
    KeyValues(Vec<(Prose, Prose)>),
    /// Terms with their definitions.
    Terms(Vec<(&'static str, &'static str)>),
    /// A table.
    Table(Table),
    /// A chart with its caption, description and data.
    Figure(Box<Figure>),
    /// Something that the reader must not miss.
    Notice(Notice, Prose),
    /// Text as it stands, with a label.
    Code(Prose, String),
    /// Parts that are shown on demand, with a label; print shows them.
    Fold(Prose, Vec<Block>),
}

/// Kinds of notices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Notice {
    /// Something was not measured.
    Gap,
    /// A result that must not be used.
    Void,
    /// A limit of what can be concluded.
    Caution,
    /// A remark.
    Remark,
}

impl Notice {
    /// Its word.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Gap => "Not measured",
            Self::Void => "Void",
            Self::Caution => "Caution",
            Self::Remark => "Note",
        }
    }
}

/// A chart as a part of a paper.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Figure {
    /// Name for cross-references.
    pub(crate) id: &'static str,
    /// What it shows and how to read it.
    pub(crate) caption: Prose,
    /// A description in words for those who do not see it, computed from the data.
    pub(crate) alt: String,
    /// The chart.
    pub(crate) chart: Chart,
    /// The data behind it.
    pub(crate) data: Table,
}
