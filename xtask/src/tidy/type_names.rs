//! Names of types: a noun of the thing, and one thing per name.

use std::collections::BTreeMap;

use super::rules::Fault;
use super::source::Source;
use super::tree::Tree;

/// More definitions than this of one name cannot be told apart in an editor.
const MOST_MEANINGS: usize = 3;

/// Names that may stand in every crate.
const CONVENTIONAL: &[&str] = &["Error"];

/// Participles that do not end in "ed", and verbs used alike.
const PARTICIPLES: &[&str] = &[
    "Begun",
    "Born",
    "Bound",
    "Broken",
    "Built",
    "Checking",
    "Chosen",
    "Copying",
    "Done",
    "Drawn",
    "Felt",
    "Found",
    "Given",
    "Gone",
    "Held",
    "Kept",
    "Known",
    "Laid",
    "Left",
    "Look",
    "Lost",
    "Made",
    "Meant",
    "Met",
    "Paid",
    "Put",
    "Ran",
    "Read",
    "Running",
    "Said",
    "Seen",
    "Sent",
    "Shown",
    "Spent",
    "Taken",
    "Thrown",
    "Told",
    "Understood",
    "Waiting",
    "Written",
];

/// Nouns that end in "ed".
const NOUNS: &[&str] = &["Bed", "Deed", "Feed", "Need", "Seed", "Speed", "Testbed"];

/// Finds types of the product that are named by a participle alone.
pub(super) fn participles(tree: &Tree) -> Vec<Fault> {
    let mut faults = Vec::new();
    for source in tree.rust() {
        for (name, at) in types(source) {
            let one_word = name.chars().filter(|c| c.is_uppercase()).count() == 1;
            let regular = name.ends_with("ed") && !NOUNS.contains(&name);
            if one_word && (regular || PARTICIPLES.contains(&name)) {
                let text = format!("`{name}` is a participle; name the thing: what is {}?", name.to_lowercase());
                faults.push(Fault::new(&source.path, source.line_of(at), text));
            }
        }
    }
    faults
}

/// Finds types of the product whose name stands for too many things.
pub(super) fn meanings(tree: &Tree) -> Vec<Fault> {
    let mut places: BTreeMap<&str, Vec<(&Source, usize)>> = BTreeMap::new();
    for source in tree.rust() {
        for (name, at) in types(source) {
            places.entry(name).or_default().push((source, at));
        }
    }
    places.retain(|name, places| places.len() > MOST_MEANINGS && !CONVENTIONAL.contains(name));
    let mut faults = Vec::new();
    for (name, places) in places {
        let count = places.len();
        faults.extend(places.into_iter().map(|(source, at)| {
            let text = format!("`{name}` names {count} types; qualify it, {MOST_MEANINGS} at most may share a name");
            Fault::new(&source.path, source.line_of(at), text)
        }));
    }
    faults
}

/// The types that a file defines outside tests, with the offset of each.
fn types(source: &Source) -> impl Iterator<Item = (&str, usize)> {
    let kinds = ["struct", "enum", "trait"].into_iter();
    kinds.flat_map(|kind| source.words(kind).map(move |at| (at, kind))).filter_map(|(at, kind)| {
        let rest = source.code[at + kind.len()..].trim_start();
        let length = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        (length > 0 && !source.is_test(at)).then_some((&rest[..length], at))
    })
}

#[cfg(test)]
mod tests {
    use super::super::rules::check_rule;
    use super::*;

    #[test]
    fn participles_are_found_and_nouns_are_not() {
        let text = "struct Opened;\npub(crate) enum Drawn {}\ntrait Held<T> {}\nstruct Seed;\nstruct OpenedFile;\nstruct Reading;\nfn f() { let x = \"struct Opened\"; }\n#[cfg(test)]\nmod tests {\n    struct Told;\n}\n";
        check_rule(participles, &[("a.rs", text)], &["a.rs:1", "a.rs:2", "a.rs:3"]);
    }

    #[test]
    fn a_name_may_stand_for_three_things() {
        let three = [
            ("a.rs", "struct Row;\nstruct Error;\n"),
            ("b.rs", "enum Row {}\nenum Error {}\n"),
            ("c.rs", "trait Row {}\n"),
        ];
        check_rule(meanings, &three, &[]);
        let four = [&three[..], &[("d.rs", "struct A;\nstruct Row;\n"), ("tests/e.rs", "struct Row;\n")]].concat();
        check_rule(meanings, &four, &["a.rs:1", "b.rs:1", "c.rs:1", "d.rs:2"]);
    }
}
