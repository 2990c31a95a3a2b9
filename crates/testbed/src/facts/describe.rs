//! All facts of a machine together.

use super::{hardware, kernel, storage, tools};
use proofload_model::facts::FactName;
use proofload_model::samples::Fact;
use std::path::Path;

/// Everything about this machine that a report discloses. What cannot be read is a fact without a value, never left out.
pub fn describe(folder: &Path) -> Vec<Fact> {
    let mut facts = hardware::facts();
    facts.extend(kernel::facts());
    facts.extend(storage::facts(folder));
    facts.extend(tools::facts());
    facts
}

/// A fact read from a file of the kernel, trimmed; without a value when the file is not there.
pub(super) fn of_file(name: &FactName, path: &str) -> Fact {
    fact(name, std::fs::read_to_string(path).ok().map(|text| text.trim().to_owned()), path)
}

/// A fact with or without a value; empty text is no value.
pub(super) fn fact(name: &FactName, value: Option<String>, source: &str) -> Fact {
    name.found(value.filter(|value| !value.is_empty()), source)
}

/// The word in brackets of a kernel file such as `always [madvise] never`.
pub(crate) fn chosen(text: &str) -> Option<&str> {
    text.split_once('[')?.1.split_once(']').map(|(word, _)| word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chosen_word_is_found() {
        assert_eq!(chosen("always [madvise] never"), Some("madvise"));
        assert_eq!(chosen("none"), None);
    }

    #[test]
    fn this_machine_is_described_and_every_fact_has_a_source() {
        let facts = describe(Path::new("/tmp"));
        assert!(facts.iter().all(|fact| !fact.source.is_empty() && fact.holds.is_none()));
        for name in ["cpu", "memory", "kernel", "file_system"] {
            assert!(facts.iter().any(|fact| fact.name == name && fact.effective.is_some()), "{name}: {facts:?}");
        }
    }
}
