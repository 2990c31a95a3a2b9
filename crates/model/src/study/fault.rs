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

/// All faults, one a line, in the order of the file.
pub fn faults_text(faults: &[Fault]) -> String {
    faults.iter().map(|fault| format!("{fault}\n")).collect()
}

/// The candidate nearest to `wrong`, if one is near enough to be a slip.
pub(crate) fn nearest<'a>(wrong: &str, candidates: impl Iterator<Item = &'a str>) -> Option<String> {
    candidates
        .map(|candidate| (strsim::damerau_levenshtein(wrong, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= (candidate.len() / 3).max(2))
        .min()
        .map(|(_, candidate)| candidate.to_owned())
}
