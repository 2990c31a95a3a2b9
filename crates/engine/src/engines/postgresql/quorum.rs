//! What `synchronous_standby_names` says: for how many of whom a commit waits. Two texts that say the same are equal, whoever wrote them. Source:
//! PostgreSQL manual, `synchronous_standby_names`.

use std::collections::BTreeSet;

/// Standbys that a commit waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Quorum {
    /// Nobody.
    Nobody,
    /// All of these.
    All(BTreeSet<String>),
    /// A number of these, whoever is first.
    Any(usize, BTreeSet<String>),
    /// A number of these, in their order.
    First(usize, Vec<String>),
    /// A text of another form, as it stands.
    Other(String),
}

impl Quorum {
    /// Reads a value of the setting.
    pub(super) fn of(text: &str) -> Self {
        let text = text.trim();
        if text.is_empty() {
            return Self::Nobody;
        }
        read(text).unwrap_or_else(|| Self::Other(text.to_owned()))
    }
}

/// `ANY n (list)`, `FIRST n (list)`, `n (list)` or a bare list, of which the first that is connected counts.
fn read(text: &str) -> Option<Quorum> {
    let Some((head, list)) = text.split_once('(') else { return quorum("FIRST", 1, text) };
    let list = list.trim().strip_suffix(')')?;
    let mut words = head.split_ascii_whitespace();
    let (method, count) = match (words.next()?, words.next()) {
        (method, Some(count)) => (method.to_ascii_uppercase(), count),
        (count, None) => ("FIRST".to_owned(), count),
    };
    quorum(&method, count.parse().ok()?, list)
}

fn quorum(method: &str, count: usize, list: &str) -> Option<Quorum> {
    let names: Option<Vec<String>> = list.split(',').map(name).collect();
    let names = names?;
    let set: BTreeSet<String> = names.iter().cloned().collect();
    match method {
        "ANY" | "FIRST" if count == set.len() => Some(Quorum::All(set)),
        "ANY" => Some(Quorum::Any(count, set)),
        "FIRST" => Some(Quorum::First(count, names)),
        _ => None,
    }
}

/// A name, in quotes or not; `None` for what stands for everybody.
fn name(text: &str) -> Option<String> {
    let text = text.trim();
    match text.strip_prefix('"') {
        Some(quoted) => Some(quoted.strip_suffix('"')?.replace("\"\"", "\"")),
        None if text.is_empty() || text == "*" => None,
        None => Some(text.to_ascii_lowercase()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn same(one: &str, other: &str) -> bool {
        Quorum::of(one) == Quorum::of(other)
    }

    #[test]
    fn texts_that_say_the_same_are_equal_and_others_are_not() {
        assert!(same("", "  "));
        assert!(same("ANY 1 (\"a\")", "a") && same("FIRST 1 (a)", "1 (\"a\")") && same("any 1(A)", "\"a\""));
        assert!(same("ANY 2 (a, b)", "FIRST 2 (b, a)"), "all of them either way");
        assert!(!same("ANY 1 (a, b)", "FIRST 1 (a, b)") && !same("FIRST 1 (a, b)", "FIRST 1 (b, a)"));
        assert!(!same("a", "") && !same("a", "b") && !same("a", "*") && !same("ANY 1 (a)", "ANY 1 (*)"));
        assert!(!same("a", "a, b") && !same("\"standby-1\"", "\"standby-2\""));
        assert!(same("*", "*") && !same("ANY 1 (a", "ANY 1 (a)"));
    }
}
