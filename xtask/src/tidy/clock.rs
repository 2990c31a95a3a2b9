//! Two modules read the clock: the program's, and the tier's for pools in real time. Everything else takes `&dyn Clock`, so that tests own time.

use super::rules::Fault;
use super::tree::Tree;

/// The modules that may ask the operating system what time it is.
const CLOCKS: [&str; 2] = ["crates/proofload/src/clock.rs", "crates/tier/src/device/clock.rs"];

/// Functions that read a clock.
const READERS: &[&str] = &["Instant::now", "SystemTime::now", "Timestamp::now", "Zoned::now"];

/// Finds reads of the clock outside its module, tests, benches and the chores.
pub(super) fn check(tree: &Tree) -> Vec<Fault> {
    let mut faults = Vec::new();
    for source in
        tree.rust().filter(|source| !CLOCKS.contains(&source.path.as_str()) && !source.path.starts_with("xtask/"))
    {
        for reader in READERS {
            let product = source.words(reader).filter(|at| !source.is_test(*at));
            faults.extend(product.map(|at| {
                let text = format!("`{reader}` is read only in {}; take `&dyn Clock`", CLOCKS[0]);
                Fault::new(&source.path, source.line_of(at), text)
            }));
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::super::rules::check_rule;
    use super::*;

    #[test]
    fn clock_reads_are_found_where_they_are_forbidden() {
        let text = "fn f() {\n    let t = std::time::Instant::now();\n    SystemTime::now();\n}\n";
        let places = [
            ("crates/load/src/a.rs", text),
            ("crates/load/tests/a.rs", text),
            ("crates/proofload/src/clock.rs", text),
            ("crates/tier/src/device/clock.rs", text),
            ("xtask/src/perf.rs", text),
        ];
        check_rule(check, &places, &["crates/load/src/a.rs:2", "crates/load/src/a.rs:3"]);
    }

    #[test]
    fn tests_and_comments_may_name_the_clock() {
        let text = "// Instant::now\n#[cfg(test)]\nmod tests {\n    fn f() { Instant::now(); }\n}\n";
        check_rule(check, &[("crates/load/src/a.rs", text)], &[]);
    }
}
