//! The whole paper and the numbers of its parts.

use super::block::{Block, Figure};
use super::inline::Prose;
use std::collections::BTreeMap;

/// A paper.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Document {
    /// Title.
    pub(crate) title: String,
    /// What was measured on what and when, below the title.
    pub(crate) subtitle: Prose,
    /// A logo as a `data:` URL of an image; empty without one.
    pub(crate) logo: String,
    /// The first screen.
    pub(crate) opening: Opening,
    /// Sections in order.
    pub(crate) sections: Vec<SectionBlocks>,
    /// What the workload is not, at the foot of a page; empty where there is nothing to say.
    pub(crate) foot: &'static str,
}

/// The first screen: what the paper says, before what it rests on.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Opening {
    /// Whether there is a result.
    pub(crate) state: OpeningState,
    /// How many points are valid, what holds for all, and what to do about the others.
    pub(crate) verdict: Prose,
    /// The answer, as strong as its interval allows; empty without a result.
    pub(crate) answer: Prose,
    /// Names and texts of what the answer rests on, such as what held and what broke first.
    pub(crate) claims: Vec<(&'static str, Prose)>,
    /// The main figure; `None` where nothing was measured.
    pub(crate) figure: Option<Figure>,
}

/// Whether a paper has a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OpeningState {
    /// All of it.
    Good,
    /// Some points are missing or void.
    Partial,
    /// No point is valid.
    Void,
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
    /// Where it stands.
    pub(crate) place: SectionPlace,
    /// Its parts.
    pub(crate) blocks: Vec<Block>,
}

/// Where a section stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SectionPlace {
    /// Numbered part of the paper.
    Paper,
    /// Part without a number: a comparison has few sections.
    Front,
    /// Part of the appendix: folded on a screen, left out of print unless all of it is wanted.
    Appendix,
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
        let (mut chapter, mut part, mut letters, mut figures, mut tables) = (0u32, 0u32, 0u32, 0u32, 0u32);
        if let Some(figure) = &document.opening.figure {
            figures += 1;
            numbering.labels.insert(figure.id, format!("Figure {figures}"));
        }
        for section in &document.sections {
            match (section.place, section.level) {
                (SectionPlace::Front, _) => {}
                (SectionPlace::Appendix, _) => {
                    let letter = char::from(b'A' + u8::try_from(letters % 26).unwrap_or(0));
                    letters += 1;
                    numbering.labels.insert(section.id, format!("appendix {letter}"));
                }
                (SectionPlace::Paper, 2) => {
                    (chapter, part) = (chapter + 1, 0);
                    numbering.labels.insert(section.id, chapter.to_string());
                }
                (SectionPlace::Paper, _) => {
                    part += 1;
                    numbering.labels.insert(section.id, format!("{chapter}.{part}"));
                }
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
