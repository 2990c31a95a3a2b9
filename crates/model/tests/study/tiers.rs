//! Settings of a cache tier: what belongs to one, and which values make none.

use super::{GOOD, catalogue, check};
use expect_test::expect;
use proofload_model::study::validate;

/// A study of SQLite on a tier, with more lines below `[storage]`.
fn on_tier(more: &str) -> String {
    let base = GOOD.split("[[factor]]").next().unwrap_or_default();
    format!("{base}[storage]\nkind = \"tier\"\n{more}\n")
}

#[test]
fn a_tier_has_settings_of_its_own() {
    let text = on_tier("slow.drives = 4\ncache.percent = 30\ncache.accelerate = [\"data\", \"log\"]");
    let study = validate(&text, &[], &catalogue()).unwrap_or_else(|faults| panic!("{faults:?}"));
    assert_eq!(study.settings.list("storage.cache.accelerate"), ["data", "log"]);
}

#[test]
fn what_is_no_tier_is_told_all_at_once() {
    let wrong = on_tier(
        "volume = \"1GiB\"\ncache.size = \"16KiB\"\ncache.percent = 30\ncache.line = \"12KiB\"\ncache.accelerate = [\"data\", \"temp\", \"data\"]",
    );
    check(
        &wrong,
        &[],
        &expect![[r#"
        line 11: storage.volume: the data of a tier lie on a modelled medium; leave it out
        line 13: storage.cache.percent: storage.cache.size gives the same in bytes; leave one of the two out
        line 14: storage.cache.line: 12KiB is not one of 4KiB, 8KiB, 16KiB, 32KiB and 64KiB
        line 15: storage.cache.accelerate: data stands twice
        line 15: storage.cache.accelerate: there is no volume "temp"; there are data and log
    "#]],
    );
    let factor =
        "[[factor]]\nsetting = \"storage.cache\"\nlevels = [{ percent = 0 }, { percent = 30, accelerate = [] }]\n";
    check(
        &(on_tier("") + factor),
        &[],
        &expect![[r#"
        line 14: storage.cache.accelerate: names no volume; for no cache say storage.cache.size = "0B"
    "#]],
    );
}

#[test]
fn without_a_tier_its_settings_are_of_no_use_and_a_server_does_not_run_on_one() {
    check(
        &on_tier("cache.percent = 30").replace("kind = \"tier\"", "kind = \"directory\""),
        &[],
        &expect![[r#"
        line 11: storage.cache.percent: only used with storage.kind = "tier"
    "#]],
    );
    check(
        &on_tier("").replace("\"sqlite\"", "\"server\""),
        &[],
        &expect![[r#"
        line 10: storage.kind: server does not run on a tier: only an engine in our own process reads and writes through one
    "#]],
    );
}
