//! How much a line for the operator matters. Pure.

use crate::words::words;
use std::fmt;

words! {
    /// How much a line for the operator matters.
    #[derive(PartialOrd, Ord)]
    LogLevel {
        /// Something that went as it may.
        Info = "info",
        /// Something that went otherwise than asked for, without harm to the run.
        Warning = "warning",
        /// Something that ends a run, or leaves something undone.
        Error = "error",
    }
}

impl LogLevel {
    /// The level of a word in a record. A word that this version does not know is read as an error, so that the line is not overlooked.
    pub fn recorded(word: &str) -> Self {
        Self::of(word).unwrap_or(Self::Error)
    }
}

impl fmt::Display for LogLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_level_is_read_from_its_word_and_an_unknown_one_as_an_error() {
        for level in LogLevel::ALL {
            assert_eq!(LogLevel::recorded(level.word()), level);
        }
        assert_eq!(LogLevel::recorded("trace"), LogLevel::Error);
        assert!(LogLevel::Info < LogLevel::Warning && LogLevel::Warning < LogLevel::Error);
    }
}
