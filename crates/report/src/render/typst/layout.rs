//! Parts of a document that stand in a paper on sheets, and their numbers.

use crate::Appendix;
use crate::blocks::{Block, Document, Numbering, SectionBlocks, SectionPlace};
use std::collections::BTreeSet;

/// What is in the paper.
pub(super) struct Layout {
    /// Numbers of parts: those of the page, whatever is left out.
    pub(super) numbering: Numbering,
    appendix: Appendix,
    ids: BTreeSet<&'static str>,
}

impl Layout {
    /// Looks through a document.
    pub(super) fn of(document: &Document, appendix: Appendix) -> Self {
        let mut layout = Self { numbering: Numbering::of(document), appendix, ids: BTreeSet::new() };
        let mut ids: BTreeSet<&'static str> = document.opening.figure.iter().map(|figure| figure.id).collect();
        for section in document.sections.iter().filter(|section| layout.shows(section)) {
            ids.insert(section.id);
            layout.collect(&section.blocks, &mut ids);
        }
        layout.ids = ids;
        layout
    }

    fn collect(&self, blocks: &[Block], ids: &mut BTreeSet<&'static str>) {
        for block in blocks {
            match block {
                Block::Figure(figure) => drop(ids.insert(figure.id)),
                Block::Table(table) if !table.id.is_empty() => drop(ids.insert(table.id)),
                Block::Fold(_, blocks) if self.is_full() => self.collect(blocks, ids),
                _ => {}
            }
        }
    }

    /// Whether parts that a page folds are in the paper.
    pub(super) fn is_full(&self) -> bool {
        self.appendix == Appendix::Full
    }

    /// Whether a section is in the paper: one within another that has folded parts alone is left out with them.
    pub(super) fn shows(&self, section: &SectionBlocks) -> bool {
        let is_folded = |block: &Block| matches!(block, Block::Fold(..));
        let all_folded = section.level > 2 && section.blocks.iter().all(is_folded);
        self.is_full() || (section.place != SectionPlace::Appendix && !all_folded)
    }

    /// Whether something that can be linked to is in the paper.
    pub(super) fn has(&self, id: &str) -> bool {
        self.ids.contains(id)
    }
}
