//! Doc comments read at once: how their first sentence begins, and `None` for what is absent.
//!
//! Only what a program can tell: the first word of a summary, its question mark, and the word "none" where a value
//! is meant. That the rest is plain is a reviewer's business.

use super::rules::Fault;
use super::source::Source;
use super::tree::Tree;

/// First words of a summary that leave its subject out.
const OPENINGS: &[&str] = &[
    "Above", "After", "As", "At", "Before", "Below", "Beside", "Besides", "Between", "Beyond", "But", "By", "For",
    "From", "In", "Into", "None", "Nor", "Not", "Of", "On", "Per", "So", "Such", "That", "Those", "To", "Under",
    "Until", "Up", "Who", "Whose", "With", "Without",
];

/// Words that follow "none" where it is a value and not a pronoun.
const AFTER_VALUE: &[&str] = &["when", "where", "if", "while", "for", "after", "before", "unless", "only", "until"];

/// A doc comment: its text line by line without the marks.
struct Comment<'a> {
    /// Line of its first mark, counted from 1.
    line: usize,
    lines: Vec<&'a str>,
}

impl Comment<'_> {
    /// Its first paragraph as one line.
    fn summary(&self) -> String {
        let lines: Vec<&str> = self.lines.iter().map(|line| line.trim()).take_while(|line| !line.is_empty()).collect();
        lines.join(" ")
    }
}

/// Finds doc comments whose summary begins with no verb or noun, or asks.
pub(super) fn summaries(tree: &Tree) -> Vec<Fault> {
    faults(tree, |comment| {
        let summary = comment.summary();
        let first = summary.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        if OPENINGS.contains(&first) || summary.starts_with("What of") {
            return Some(format!("the summary begins with \"{first}\"; begin with a verb or a noun"));
        }
        asks(&summary).then(|| "the summary is a question; say \"Whether …\"".to_owned())
    })
}

/// Finds doc comments that write "none" for the value.
pub(super) fn absences(tree: &Tree) -> Vec<Fault> {
    faults(tree, |comment| {
        is_value(&comment.lines.join(" ")).then(|| "\"none\" is meant as a value; write `None`".to_owned())
    })
}

fn faults(tree: &Tree, fault: impl Fn(&Comment<'_>) -> Option<String>) -> Vec<Fault> {
    let mut faults = Vec::new();
    for source in tree.rust() {
        for comment in comments(source) {
            faults.extend(fault(&comment).map(|text| Fault::new(&source.path, comment.line, text)));
        }
    }
    faults
}

/// The doc comments of a file: neighbouring lines of one mark.
fn comments(source: &Source) -> Vec<Comment<'_>> {
    let mut comments: Vec<Comment<'_>> = Vec::new();
    let mut before = None;
    for (index, line) in source.text.lines().enumerate() {
        let mark = ["///", "//!"].into_iter().find(|mark| line.trim_start().starts_with(mark));
        let text = mark.map(|mark| &line.trim_start()[mark.len()..]);
        match (text, comments.last_mut()) {
            (Some(text), Some(comment)) if before == mark => comment.lines.push(text),
            (Some(text), _) => comments.push(Comment { line: index + 1, lines: vec![text] }),
            (None, _) => {}
        }
        before = mark;
    }
    comments
}

/// Whether the first sentence ends with a question mark.
fn asks(summary: &str) -> bool {
    let ends = |(at, end): &(usize, &str)| summary[at + end.len()..].starts_with(' ') || at + 1 == summary.len();
    let first = summary.match_indices(['.', '?']).find(ends);
    first.is_some_and(|(_, end)| end == "?")
}

fn is_value(text: &str) -> bool {
    // Every second piece is code; a placeholder keeps what stands beside it apart.
    let prose: Vec<&str> = text.split('`').step_by(2).collect();
    let prose = prose.join("`x`");
    prose.to_lowercase().match_indices("none").any(|(at, word)| {
        let (before, after) = (prose[..at].trim_end(), &prose[at + word.len()..]);
        let whole = !prose[..at].ends_with(char::is_alphanumeric) && !after.starts_with(char::is_alphanumeric);
        let next = after.strip_prefix(' ').and_then(|after| after.split(|c: char| !c.is_alphabetic()).next());
        let pronoun = next == Some("of");
        let value = before.is_empty()
            || before.ends_with([';', '(', ':'])
            || before.ends_with(" or")
            || after.starts_with(':')
            || next.is_some_and(|next| AFTER_VALUE.contains(&next));
        whole && value && !pronoun
    })
}

#[cfg(test)]
mod tests {
    use super::super::rules::check_rule;
    use super::*;

    #[test]
    fn summaries_without_a_subject_and_questions_are_found() {
        let text = "//! Of the load.\n\n/// So many seconds.\nstruct A;\n    /// What of a run counts.\n/// Is it on? Yes.\nfn a() {}\n";
        check_rule(summaries, &[("a.rs", text)], &["a.rs:1", "a.rs:3", "a.rs:5"]);
        check_rule(summaries, &[("a.rs", "/// Is `1.5` too much? Yes.\n/// More.\nfn a() {}\n")], &["a.rs:1"]);
    }

    #[test]
    fn plain_summaries_are_not() {
        let text = "//! Offers a load. Of what, the plan says.\n\n/// Notes seconds. Is it on?\n/// Of no weight here.\n// So be it.\nstruct A;\n/// Source: 3.4.\nfn a() {}\n";
        check_rule(summaries, &[("a.rs", text), ("a.md", "/// Of a page.\n")], &[]);
    }

    #[test]
    fn none_as_a_value_is_found_and_as_a_pronoun_it_is_not() {
        let bad = "/// The next; none after it.\nfn a();\n\n/// A date, or\n/// none.\nfn b();\n\n/// None: nobody asks.\nfn c();\n\n/// A date, none where it lacks.\nfn d();\n";
        check_rule(absences, &[("a.rs", bad)], &["a.rs:1", "a.rs:4", "a.rs:8", "a.rs:11"]);
        let good = "/// `None` when it lacks.\nfn a();\n\n/// Says that there is none.\nfn b();\n\n/// A nonentity; none of them counts.\nfn c();\n";
        check_rule(absences, &[("a.rs", good)], &[]);
    }
}
