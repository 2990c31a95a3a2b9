//! Terms of the field that a reader may not know: their definitions, and where a page explains them. May not look at a record.

use crate::blocks::{Block, Column, Document, Figure, Inline, Prose, SectionBlocks, SectionPlace, Table};

/// A term as a text may have it, and its definition in at most 30 words. `docs/terms.md` has the sources.
pub(crate) struct Term {
    /// The word.
    pub(crate) word: &'static str,
    /// What it means here.
    pub(crate) definition: &'static str,
}

const fn term(word: &'static str, definition: &'static str) -> Term {
    Term { word, definition }
}

/// All of them. A longer term stands before one that it contains.
const TERMS: &[Term] = &[
    term(
        "99th percentile",
        "The response time that 99 of 100 operations did not exceed, from the merged histograms of the window.",
    ),
    term(
        "95 % intervals",
        "Ranges that contain the true value in 95 of 100 repetitions of such a study, given the observed spread.",
    ),
    term(
        "95 % confidence intervals",
        "Ranges that contain the true value in 95 of 100 repetitions of such a study, given the observed spread.",
    ),
    term("backlog", "Operations that were due but had not started."),
    term(
        "busiest core",
        "The core with the least idle time in the window: a single thread at its limit shows here \
        first.",
    ),
    term("coefficient of variation", "The standard deviation divided by the mean."),
    term("dirty pages", "File pages in memory that were written but have not reached the device yet."),
    term("drift", "A change of throughput from the beginning to the end of the window."),
    term("elasticity", "The change of throughput in per cent if a resource changes by one per cent."),
    term("knee", "The range of levels in which the curve stops rising."),
    term("Little's law", "The mean number of requests in flight equals their rate times their mean time."),
    term("measured window", "The seconds after the warm-up that count."),
    term("flushes", "Requests that make the device write its volatile cache to the medium."),
    term("pressure", "Share of the time in which at least one task waited for the resource, as counted by the kernel."),
    term("send lag", "The delay between intended and actual start of operations whose user was free."),
    term(
        "stall",
        "A second with less than half of the window's median throughput, or with a response time above ten times the \
         99th percentile.",
    ),
    term("steady state", "The part of a run in which throughput changes no more than its noise."),
    term("steal", "Share of the time in which the database's cores had work but the hypervisor ran another guest."),
    term("virtual users", "Clients that each send one operation at a time."),
    term("void", "Not a result, because a condition of the measurement was not met. The values are shown as context."),
    term("warm-up", "The seconds from the start of the load until throughput was steady; they do not count."),
    term("write amplification", "Bytes written to the device divided by the bytes that the workload wrote."),
];

/// Marks each term where a section first uses it, and adds the list of the terms that were found.
pub(super) fn explained(mut document: Document) -> Document {
    let mut used = vec![false; TERMS.len()];
    for section in &mut document.sections {
        let mut marks = Marks { seen: vec![false; TERMS.len()] };
        section.blocks.iter_mut().for_each(|block| marks.block(block));
        used.iter_mut().zip(&marks.seen).for_each(|(used, seen)| *used |= seen);
    }
    let found: Vec<&'static Term> = TERMS.iter().zip(used).filter(|(_, used)| *used).map(|(term, _)| term).collect();
    if !found.is_empty() {
        document.sections.push(SectionBlocks {
            id: "terms",
            title: "Terms",
            level: 2,
            place: SectionPlace::Appendix,
            blocks: vec![Block::Terms(found.iter().map(|term| (term.word, term.definition)).collect())],
        });
    }
    document
}

/// Terms that a section has used already.
struct Marks {
    seen: Vec<bool>,
}

impl Marks {
    fn block(&mut self, block: &mut Block) {
        match block {
            Block::Paragraph(words) | Block::Lead(words) | Block::Notice(_, words) => self.prose(words),
            Block::List(items) | Block::Steps(items) => items.iter_mut().for_each(|item| self.prose(item)),
            Block::KeyValues(pairs) => pairs.iter_mut().for_each(|(_, value)| self.prose(value)),
            Block::Table(table) => self.table(table),
            Block::Figure(figure) => self.figure(figure),
            Block::Fold(_, blocks) => blocks.iter_mut().for_each(|block| self.block(block)),
            Block::Heading(_) | Block::Code(..) | Block::Terms(_) => {}
        }
    }

    fn table(&mut self, table: &mut Table) {
        self.prose(&mut table.caption);
        table.columns.iter_mut().for_each(|Column { title, .. }| self.prose(title));
        self.prose(&mut table.note);
    }

    fn figure(&mut self, figure: &mut Figure) {
        self.prose(&mut figure.caption);
    }

    fn prose(&mut self, words: &mut Prose) {
        let pieces = std::mem::take(words);
        for piece in pieces {
            match piece {
                Inline::Text(text) => self.text(text, words),
                other => words.push(other),
            }
        }
    }

    /// Parts a text at the first term that is new.
    fn text(&mut self, text: &'static str, words: &mut Prose) {
        let new = TERMS.iter().enumerate().filter(|(number, _)| !self.seen[*number]);
        let found = new.filter_map(|(number, term)| Some((place(text, term.word)?, number, term)));
        let Some((at, number, term)) = found.min_by_key(|(at, number, _)| (*at, *number)) else {
            words.push(Inline::Text(text));
            return;
        };
        self.seen[number] = true;
        let end = at + term.word.len();
        words.extend((at > 0).then(|| Inline::Text(&text[..at])));
        words.push(Inline::Term(&text[at..end], term.word, term.definition));
        if end < text.len() {
            self.text(&text[end..], words);
        }
    }
}

/// Where a text has a word as a whole, whatever the case of its first letter.
fn place(text: &str, word: &str) -> Option<usize> {
    let is_letter = |letter: Option<char>| letter.is_some_and(char::is_alphanumeric);
    let mut from = 0;
    while let Some(rest) = text.get(from..) {
        let at = from + rest.char_indices().map(|(at, _)| at).find(|at| begins(&rest[*at..], word))?;
        let (before, after) = (text[..at].chars().next_back(), text[at + word.len()..].chars().next());
        if !is_letter(before) && !is_letter(after) {
            return Some(at);
        }
        from = at + word.chars().next().map_or(1, char::len_utf8);
    }
    None
}

fn begins(text: &str, word: &str) -> bool {
    text.get(..word.len())
        .is_some_and(|head| head == word || (head.get(1..) == word.get(1..) && head.eq_ignore_ascii_case(word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_term_is_found_as_a_whole_word_and_once() {
        assert_eq!(place("avoid void", "void"), Some(6));
        assert_eq!(place("Drift and driftwood", "drift"), Some(0));
        assert_eq!(place("driftwood", "drift"), None);
        assert_eq!(place("–drift", "drift"), Some(3));
        let mut marks = Marks { seen: vec![false; TERMS.len()] };
        let mut words = vec![Inline::Text("A void point; a void run had steal.")];
        marks.prose(&mut words);
        let terms: Vec<&str> = words
            .iter()
            .filter_map(|piece| if let Inline::Term(text, ..) = piece { Some(*text) } else { None })
            .collect();
        assert_eq!(terms, ["void", "steal"]);
    }

    #[test]
    fn definitions_are_short_sentences() {
        for Term { word, definition } in TERMS {
            assert!(definition.split(' ').count() <= 30 && definition.ends_with('.'), "{word}");
        }
    }
}
