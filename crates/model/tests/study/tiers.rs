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
            line 11: storage.volume: sqlite accesses its tier through files; remove it
            line 13: storage.cache.percent: storage.cache.size gives the same in bytes; remove one of the two
            line 14: storage.cache.line: 12KiB must be 4KiB, 8KiB, 16KiB, 32KiB or 64KiB
            line 15: storage.cache.accelerate: data is listed twice
            line 15: storage.cache.accelerate: unknown volume "temp"; known: data and log
        "#]],
    );
    let factor =
        "[[factor]]\nsetting = \"storage.cache\"\nlevels = [{ percent = 0 }, { percent = 30, accelerate = [] }]\n";
    check(
        &(on_tier("") + factor),
        &[],
        &expect![[r#"
        line 14: storage.cache.accelerate: lists no volume; for no cache use storage.cache.size = "0B"
    "#]],
    );
}

#[test]
fn without_a_tier_its_settings_are_of_no_use() {
    check(
        &on_tier("cache.percent = 30").replace("kind = \"tier\"", "kind = \"directory\""),
        &[],
        &expect![[r#"
        line 11: storage.cache.percent: only used with storage.kind = "tier"; set that, or remove it
    "#]],
    );
}

#[test]
fn a_cache_is_cleaned_by_one_to_64_writes_at_once_and_the_number_is_a_factor() {
    for bad in ["0", "65", "\"many\""] {
        let told = validate(&on_tier(&format!("cache.clean_depth = {bad}")), &[], &catalogue());
        let told: Vec<String> = told.expect_err("no such depth").iter().map(ToString::to_string).collect();
        assert!(told.len() == 1 && told[0].contains("storage.cache.clean_depth"), "{bad}: {told:?}");
    }
    let factor = "[[factor]]\nsetting = \"storage.cache.clean_depth\"\nlevels = [1, 64]\n";
    let study = validate(&(on_tier("cache.percent = 30") + factor), &[], &catalogue());
    assert_eq!(study.unwrap_or_else(|faults| panic!("{faults:?}")).factors[0].levels.len(), 2);
}

#[test]
fn a_depth_that_follows_the_medium_and_the_marks_are_factors() {
    let factors = "[[factor]]\nsetting = \"storage.cache.clean_depth\"\nlevels = [8, \"auto\"]\n\
                   [[factor]]\nsetting = \"storage.cache.dirty_target\"\nlevels = [0.1, \"40%\"]\n\
                   [[factor]]\nsetting = \"storage.cache.clean_after\"\nlevels = [\"1s\", \"1h\"]\n";
    let study = validate(&(on_tier("cache.percent = 30") + factors), &[], &catalogue());
    assert_eq!(study.unwrap_or_else(|faults| panic!("{faults:?}")).factors.len(), 3);
}

#[test]
fn marks_and_quotas_that_cannot_be_are_told_all_at_once_with_their_limits() {
    check(
        &on_tier(
            "cache.percent = 30\ncache.dirty_target = 0.5\ncache.bypass_from = \"40%\"\ncache.clean_age = \"10ms\"\n\
             cache.log_quota = 0.2",
        ),
        &[],
        &expect![[r#"
            line 14: storage.cache.clean_age: "10ms" must be a duration from 1s to 720h, such as "30s"
        "#]],
    );
    let told = validate(
        &on_tier("cache.percent = 30\ncache.dirty_target = 0.5\ncache.bypass_from = \"40%\"\ncache.log_quota = 0.2"),
        &[],
        &catalogue(),
    );
    let told: Vec<String> = told.expect_err("none of them can be").iter().map(ToString::to_string).collect();
    let wanted = [
        "storage.cache.dirty_target: storage.cache.dirty_target (50%) is above storage.cache.clean_to (45%)",
        "storage.cache.bypass_from: storage.cache.clean_from (50%) is above storage.cache.bypass_from (40%)",
        "storage.cache.log_quota: only used where data and log are cached",
    ];
    assert!(wanted.iter().all(|part| told.iter().any(|fault| fault.contains(part))) && told.len() == 3, "{told:?}");
    let both = "cache.percent = 30\ncache.accelerate = [\"data\", \"log\"]\ncache.data_quota = 0.8\ncache.log_quota = ";
    validate(&on_tier(&format!("{both}0.2")), &[], &catalogue()).unwrap_or_else(|faults| panic!("{faults:?}"));
    let told = validate(&on_tier(&format!("{both}0.3")), &[], &catalogue()).expect_err("more than the cache");
    assert!(told.len() == 1 && told[0].to_string().contains("use at most 20%"), "{told:?}");
}

#[test]
fn flushes_are_delayed_by_a_millisecond_to_some_seconds_on_a_tier_alone() {
    for good in ["1ms", "5ms", "5s"] {
        let text = on_tier(&format!("slow.drive = \"none\"\nflush_delay = \"{good}\""));
        let study = validate(&text, &[], &catalogue()).unwrap_or_else(|faults| panic!("{good}: {faults:?}"));
        let plan = proofload_model::tier::tier_plan(&study.settings).expect("words").expect("a tier");
        assert!(plan.flush_delay.is_some() && !plan.slow.is_modelled() && plan.cache.size.is_nothing());
    }
    for bad in ["\"0s\"", "\"-5ms\"", "\"5001ms\"", "\"500us\"", "5", "[]"] {
        let text = on_tier(&format!("flush_delay = {bad}"));
        let told: Vec<String> = validate(&text, &[], &catalogue())
            .expect_err("it is no such delay")
            .iter()
            .map(ToString::to_string)
            .collect();
        let wanted = "a duration from 1ms to 5s";
        assert!(
            told.len() == 1 && told[0].contains("storage.flush_delay") && told[0].contains(wanted),
            "{bad}: {told:?}"
        );
    }
    check(
        &on_tier("flush_delay = \"5ms\"").replace("kind = \"tier\"", "kind = \"directory\""),
        &[],
        &expect![[r#"
        line 11: storage.flush_delay: only used with storage.kind = "tier"; set that, or remove it
    "#]],
    );
}

#[test]
fn a_server_on_a_tier_has_a_volume_and_no_standby() {
    let served = |more: &str| on_tier(more).replace("\"sqlite\"", "\"server\"");
    let good = served("volume = \"1GiB\"\ncache.percent = 30\ncache.accelerate = [\"data\", \"log\"]");
    validate(&good, &[], &catalogue()).unwrap_or_else(|faults| panic!("{faults:?}"));
    check(
        &served("cache.percent = 30"),
        &[],
        &expect![[r#"
        line 10: storage.kind: server needs storage.volume, the size of the slow volume, such as "4GiB"
    "#]],
    );
    let standbys = "[replication]\nmode = \"async\"\nstandbys = 1\n";
    check(
        &(served("volume = \"1GiB\"") + standbys),
        &[],
        &expect![[r#"
        line 10: storage.kind: a tier needs a single server, without standbys or drills
    "#]],
    );
    let remote = served("").replace("kind = \"server\"", "kind = \"server\"\nurl = \"postgres://h\"");
    check(
        &remote,
        &[],
        &expect![[r#"
        line 11: storage.kind: server cannot run on a tier: a tier needs an engine in the load agent's process, or a server that Proofload starts
        procedure.restore: an existing server (engine.url) cannot be restored from a file snapshot; use "never"
    "#]],
    );
    let real = served("volume = \"1GiB\"\nslow.drive = \"none\"\ncache.path = \"/ssd\"\ncache.percent = 30");
    validate(&real, &[], &catalogue()).unwrap_or_else(|faults| panic!("{faults:?}"));
    check(
        &format!("{real}\nslow.stroke = \"3%\""),
        &[],
        &expect![[r#"
        line 16: storage.slow.stroke: only used with modelled drives; remove it
    "#]],
    );
    check(
        &format!("{real}\nslow.scheduling = \"fcfs\""),
        &[],
        &expect![[r#"
        line 16: storage.slow.scheduling: only used with modelled drives; remove it
    "#]],
    );
    check(
        &on_tier("slow.drives = 2"),
        &[],
        &expect![[r#"
        line 11: storage.slow.drives: raid-5 cannot have 2 drives; it needs 3 to 64
    "#]],
    );
    check(
        &(real + "\nslow.drives = 4"),
        &[],
        &expect![[r#"
        line 16: storage.slow.drives: only used with modelled drives; remove it
    "#]],
    );
    check(
        &on_tier("slow.drive = \"none\"\ncache.path = \"/ssd\""),
        &[],
        &expect![[r#"
        line 12: storage.cache.path: the cache of sqlite is always stored beside its data; remove it
    "#]],
    );
}

#[test]
fn a_list_that_fills_a_cache_names_a_file_and_is_the_only_thing_that_fills_it() {
    let good = on_tier("cache.percent = 30\ncache.warm = \"lines\"\ncache.warm_within = \"30s\"");
    let study = validate(&good, &[], &catalogue()).unwrap_or_else(|faults| panic!("{faults:?}"));
    let plan = proofload_model::tier::tier_plan(&study.settings).expect("words").expect("a tier");
    let warm = plan.cache.warming().expect("it has a list");
    assert_eq!((warm.list.as_str(), warm.within.as_secs()), ("lines", 30));
    // A level without a cache needs no list.
    let factor = "[[factor]]\nsetting = \"storage.cache.percent\"\nlevels = [0, 30]\n";
    let varied = on_tier("cache.warm = \"lines\"") + factor;
    validate(&varied, &[], &catalogue()).unwrap_or_else(|faults| panic!("{faults:?}"));
    let alone = on_tier("cache.percent = 30\ncache.warm_within = \"30s\"");
    let empty = on_tier("cache.percent = 30\ncache.warm = \" \"");
    let twice = on_tier("cache.percent = 30\ncache.warm = \"lines\"\n[procedure]\nprewarm = true");
    for (text, why) in [
        (alone, "storage.cache.warm_within: only used with storage.cache.warm"),
        (empty, "storage.cache.warm: does not name a file"),
        (twice, "storage.cache.warm: procedure.prewarm fills the cache as well"),
    ] {
        let told = validate(&text, &[], &catalogue()).expect_err("it cannot be");
        assert!(told.len() == 1 && told[0].to_string().contains(why), "{why}: {told:?}");
    }
}
