//! A case and its result: what the machine says of it over its serial line, one JSON object on a line. Both ends use these types.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// Figures that a case found, by name; each name ends with its unit, unless it is a count.
pub(super) type Figures = Map<String, Value>;

/// What a case does; the error says what was expected and what came.
pub(super) type CaseBody = fn() -> Result<Figures, String>;

/// One case.
pub(super) struct Case {
    /// Its name inside its group.
    pub(super) name: &'static str,
    /// Number of the boot in which it runs, from 1. Boots before the last of a group end by a kill of the machine.
    pub(super) boot: u32,
    pub(super) run: CaseBody,
}

/// A group of cases with a machine of its own.
pub(super) struct CaseGroup {
    pub(super) name: &'static str,
    pub(super) cases: &'static [Case],
}

impl CaseGroup {
    /// Number of its last boot.
    pub(super) fn boots(&self) -> u32 {
        self.cases.iter().map(|case| case.boot).max().unwrap_or(0)
    }

    /// Cases of a boot, in their order.
    pub(super) fn of_boot(&self, boot: u32) -> impl Iterator<Item = &Case> {
        self.cases.iter().filter(move |case| case.boot == boot)
    }
}

/// What the machine says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) enum MachineLine {
    /// A case has ended.
    Result(CaseResult),
    /// The load is under way: kill the machine now.
    Kill,
    /// All cases of this boot are done, and the machine powers off.
    End,
}

/// How a case ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct CaseResult {
    pub(super) case: String,
    /// Why it failed; `None` when it passed.
    pub(super) fault: Option<String>,
    /// Time by the machine's own clock, s.
    pub(super) seconds: f64,
    pub(super) figures: Figures,
}

impl MachineLine {
    /// The line.
    pub(super) fn text(&self) -> String {
        json!(self).to_string()
    }

    /// Reads a line; `None` for what somebody else wrote.
    pub(super) fn read(line: &str) -> Option<Self> {
        serde_json::from_str(line.trim()).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_speak_alike_and_other_words_are_passed_over() {
        let figures = [("read_hits".to_owned(), json!(7))].into_iter().collect();
        let result =
            CaseResult { case: "verify".to_owned(), fault: Some("two\nlines".to_owned()), seconds: 1.5, figures };
        for line in [MachineLine::Result(result), MachineLine::Kill, MachineLine::End] {
            assert!(!line.text().contains('\n'));
            assert_eq!(MachineLine::read(&format!("{}\r\n", line.text())), Some(line));
        }
        for other in ["", "[    1.2] virtio_blk", "{\"case\": 7}", "{}"] {
            assert_eq!(MachineLine::read(other), None, "{other}");
        }
    }
}
