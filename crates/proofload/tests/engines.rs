//! The page of engines in the documents is the one that the program prints.

mod support;

use support::{Bench, text};

#[test]
fn the_page_of_engines_is_current() {
    let bench = Bench::new("engines-page");
    let printed = text(&bench.run(&["engines", "--page"]).stdout);
    let kept = include_str!("../../../docs/engines.md");
    assert!(printed == kept, "docs/engines.md is not current: run `cargo xtask engines`\n{printed}");
}
