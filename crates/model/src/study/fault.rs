//! One thing wrong with a study file, with all that is needed to mend it.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A fault of a study.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// Line of the file, from 1; `None` for a fault of the whole or of `--set`.
    pub line: Option<usize>,
    /// Dotted key; empty for a fault of syntax.
    pub key: String,
    /// What is wrong, and what would be right.
    pub reason: String,
    /// The nearest known key, word or remedy, when there is one.
    pub suggestion: Option<String>,
}

impl Fault {
    /// A fault without a suggestion.
    pub fn new(line: Option<usize>, key: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { line, key: key.into(), reason: reason.into(), suggestion: None }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        if !self.key.is_empty() {
            write!(f, "{}: ", self.key)?;
        }
        f.write_str(&self.reason)?;
        match &self.suggestion {
            Some(near) => write!(f, "; did you mean {near}?"),
            None => Ok(()),
        }
    }
}

/// Number of faults of one study that are told; the others are counted.
pub const MOST_FAULTS_TOLD: usize = 1_000;

/// The faults, one a line, in the order of the file; of more than [`MOST_FAULTS_TOLD`] the first, and the number of the others.
pub fn faults_text(faults: &[Fault]) -> String {
    let told: String = faults.iter().take(MOST_FAULTS_TOLD).map(|fault| format!("{fault}\n")).collect();
    match faults.len().saturating_sub(MOST_FAULTS_TOLD) {
        0 => told,
        more => format!("{told}and {more} more\n"),
    }
}

/// The setting that was probably meant by `wrong`: one that is a slip away, else the only one of the same last name, else the only one of
/// its table with that name among its words.
pub(crate) fn nearest_setting(wrong: &str, known: &[&str]) -> Option<String> {
    let (table, name) = parts(wrong);
    let has_name = |path: &&str| parts(path).1 == name;
    let has_word = |path: &&str| parts(path).0 == table && parts(path).1.split('_').any(|word| word == name);
    let all = || known.iter().copied();
    nearest(wrong, all()).or_else(|| only(all().filter(has_name))).or_else(|| only(all().filter(has_word)))
}

/// Table and last name of a path.
fn parts(path: &str) -> (&str, &str) {
    path.rsplit_once('.').unwrap_or(("", path))
}

/// The one text that all of these are.
fn only<'a>(mut texts: impl Iterator<Item = &'a str>) -> Option<String> {
    let first = texts.next()?;
    texts.all(|text| text == first).then(|| first.to_owned())
}

/// The candidate nearest to `wrong`, if one is near enough to be a slip: of a path, a third of the letters of its last name, as the tables
/// before it are the same for many. Capitals are no slips: of `B` the nearest is `b`. A word of which no letter is left is not near.
pub(crate) fn nearest<'a>(wrong: &str, candidates: impl Iterator<Item = &'a str>) -> Option<String> {
    let letters = wrong.chars().count();
    let slips = |candidate: &str| (candidate.rsplit('.').next().map_or(0, str::len) / 3).max(2);
    candidates
        // A distance is never less than the difference of lengths; to find it takes time and memory by their product.
        .filter(|candidate| candidate.chars().count().abs_diff(letters) <= slips(candidate))
        .map(|candidate| (strsim::damerau_levenshtein(&wrong.to_lowercase(), &candidate.to_lowercase()), candidate))
        .filter(|(distance, candidate)| {
            *distance <= slips(candidate) && *distance < letters.max(candidate.chars().count())
        })
        .min()
        .map(|(_, candidate)| candidate.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_faults_are_told_and_the_others_counted() {
        let fault = Fault::new(Some(1), "a", "wrong");
        let text = |count| faults_text(&vec![fault.clone(); count]);
        assert_eq!(text(MOST_FAULTS_TOLD), "line 1: a: wrong\n".repeat(MOST_FAULTS_TOLD));
        assert!(text(MOST_FAULTS_TOLD + 7).ends_with("a: wrong\nand 7 more\n"));
    }

    #[test]
    fn a_setting_is_found_by_its_last_name_or_a_word_of_it() {
        let known =
            ["workload.virtual_users", "workload.insert", "procedure.measure", "limits.memory", "limits.memory"];
        let check = |wrong: &str, expected: Option<&str>| {
            assert_eq!(nearest_setting(wrong, &known).as_deref(), expected, "{wrong}");
        };
        check("measure", Some("procedure.measure"));
        check("procedure.memory", Some("limits.memory"));
        check("workload.users", Some("workload.virtual_users"));
        check("limits.users", None);
        check("workload.inserts", Some("workload.insert"));
        check("procedure.pace", None);
    }

    #[test]
    fn a_slip_is_found_and_a_key_of_megabytes_is_none() {
        let known = || ["workload.warehouses", "limits.memory"].into_iter();
        assert_eq!(nearest("workload.warehuses", known()).as_deref(), Some("workload.warehouses"));
        // Another name of the same table is no slip, however long the table's own name is.
        assert_eq!(nearest("procedure.pace", ["procedure.measure"].into_iter()), None);
        // Case is not told apart, and a short word in another case is not taken for another short word.
        let mixes = || ["a", "b", "c", "own"].into_iter();
        assert_eq!(nearest("B", mixes()).as_deref(), Some("b"));
        assert_eq!(nearest("OWN", mixes()).as_deref(), Some("own"));
        assert_eq!(nearest("WORKLOAD.Warehouses", known()).as_deref(), Some("workload.warehouses"));
        assert_eq!([nearest("g", mixes()), nearest("G", mixes())], [None, None], "no letter of it is left");
        // The distance would take a table of 8 million rows.
        assert_eq!(nearest(&"w".repeat(8 << 20), known()), None);
    }
}
