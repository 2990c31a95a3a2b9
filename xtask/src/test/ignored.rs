//! Tests that are ignored for their length or for what they need, and that run all the same: as entries of their own, beside the others.
//!
//! They are told by a word in their names, since that is what a test program can be asked for: an ignored test that has the word says in its
//! reason where it runs, and one that says so has the word.

use super::build::TestProgram;
use std::process::Command;

/// Words in the names of ignored tests that every run of all tests runs. Tests of MySQL say SKIPPED where its server is not found.
pub(super) const WORDS: &[&str] = &["mysql"];

/// The programs that have ignored tests with a word in their names, to run these alone.
pub(super) fn of_word(programs: &[TestProgram], word: &str) -> Result<Vec<TestProgram>, String> {
    let mut found = Vec::new();
    for program in programs {
        if has_tests(&listed(program, word)?) {
            found.push(TestProgram { ignored: Some(word.to_owned()), ..program.clone() });
        }
    }
    Ok(found)
}

/// What a program lists of its ignored tests with a word in their names.
fn listed(program: &TestProgram, word: &str) -> Result<String, String> {
    let listing = Command::new(&program.executable)
        .args(["--list", "--ignored", word])
        .current_dir(&program.folder)
        .env("CARGO_MANIFEST_DIR", &program.folder)
        .output()
        .map_err(|error| format!("starting {}: {error}", program.executable.display()))?;
    if !listing.status.success() {
        return Err(format!("{} --list: {}", program.executable.display(), listing.status));
    }
    Ok(String::from_utf8_lossy(&listing.stdout).into_owned())
}

/// Whether a list of tests has one.
fn has_tests(listing: &str) -> bool {
    listing.lines().any(|line| line.ends_with(": test"))
}

#[cfg(test)]
mod tests {
    use super::super::build::example;
    use super::*;
    use std::path::Path;

    /// What the reason of an ignored test says of MySQL.
    const REASON: &str = "run where MySQL is";

    /// Names and reasons of ignored tests in the sources below a folder.
    fn ignored(folder: &Path, found: &mut Vec<(String, String)>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                ignored(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                for part in text.split("#[ignore = \"").skip(1) {
                    let (reason, rest) = part.split_once("\"]").unwrap();
                    let name = rest.split_once("fn ").and_then(|(_, rest)| rest.split_once('(')).unwrap().0;
                    found.push((name.to_owned(), reason.to_owned()));
                }
            }
        }
    }

    #[test]
    fn ignored_tests_of_mysql_are_those_with_its_name() {
        let mut found = Vec::new();
        ignored(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../crates")), &mut found);
        let (ours, others): (Vec<_>, Vec<_>) = found.into_iter().partition(|(_, reason)| reason.ends_with(REASON));
        assert!(!ours.is_empty() && !others.is_empty());
        let has_word = |(name, _): &&(String, String)| name.contains(WORDS[0]);
        let without: Vec<_> = ours.iter().filter(|test| !has_word(test)).collect();
        let beside: Vec<_> = others.iter().filter(has_word).collect();
        assert!(without.is_empty(), "no run of all tests runs these: {without:?}");
        assert!(beside.is_empty(), "every run of all tests runs these, whatever their reason: {beside:?}");
    }

    #[test]
    fn only_programs_that_list_such_tests_are_kept() {
        let program = |path: &str| TestProgram { executable: path.into(), folder: "/".into(), ..example().remove(0) };
        // It lists what it is asked with, which is a line that ends as that of a test.
        let word = "users_race_on_mysql: test";
        let kept = of_word(&[program("/bin/echo"), program("/bin/true")], word).unwrap();
        assert_eq!(kept, [TestProgram { ignored: Some(word.to_owned()), ..program("/bin/echo") }]);
        assert_eq!(of_word(&[program("/bin/echo")], "mysql"), Ok(Vec::new()));
        assert!(of_word(&[program("/bin/false")], "mysql").unwrap_err().contains("exit status: 1"));
        assert!(of_word(&[program("/no/such/program")], "mysql").unwrap_err().contains("starting /no/such"));
    }
}
