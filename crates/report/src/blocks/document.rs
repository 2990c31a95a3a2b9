//! The whole paper and the numbers of its parts.

use super::block::Block;
use super::inline::Prose;
use std::collections::BTreeMap;

/// A paper.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Document {
    /// Title.
    pub(crate) title: String,
    /// What kind of document it is, above the title.
    pub(crate) kicker: Prose,
    /// Names and values below the title, such as the date.
    pub(crate) imprint: Vec<(Prose, Prose)>,
    /// Sections in order.
    pub(crate) sections: Vec<SectionBlocks>,
    /// What the workload is not, at the foot of a page; empty where there is nothing to say.
    pub(crate) foot: &'static str,
}

/// A section.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SectionBlocks {
    /// Name for links.
    pub(crate) id: &'static str,
    /// Heading.
    pub(crate) title: &'static str,
    /// 2 for a section, 3 for a section within the one before.
    pub(crate) level: u8,
    /// Whether it is numbered. The summary and appendices of a paper are not.
    pub(crate) numbered: bool,
    /// Its parts.
    pub(crate) blocks: Vec<Block>,
}

/// Numbers of sections, figures and tables, as printed: `3.2`, `Figure 4`, `Table 2`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Numbering {
    labels: BTreeMap<&'static str, String>,
}

impl Numbering {
    /// Numbers a document in order.
    pub(crate) fn of(document: &Document) -> Self {
        let mut numbering = Self::default();
        let (mut chapter, mut part, mut figures, mut tables) = (0u32, 0u32, 0u32, 0u32);
        for section in &document.sections {
            if section.numbered && section.level == 2 {
                (chapter, part) = (chapter + 1, 0);
                numbering.labels.insert(section.id, chapter.to_string());
            } else if section.numbered {
                part += 1;
                numbering.labels.insert(section.id, format!("{chapter}.{part}"));
            }
            numbering.number_parts(&section.blocks, &mut figures, &mut tables);
        }
        numbering
    }

    /// The number of a part; `None` when the document does not have it.
    pub(crate) fn label(&self, id: &str) -> Option<&str> {
        self.labels.get(id).map(String::as_str)
    }

    fn number_parts(&mut self, blocks: &[Block], figures: &mut u32, tables: &mut u32) {
        for block in blocks {
            match block {
                Block::Figure(figure) => {
                    *figures += 1;
                    self.labels.insert(figure.id, format!("Figure {figures}"));
                }
                Block::Table(table) if !table.id.is_empty() => {
                    *tables += 1;
                    self.labels.insert(table.id, format!("Table {tables}"));
                }
                Block::Fold(_, blocks) => self.number_parts(blocks, figures, tables),
                _ => {}
            }
        }
    }
}
