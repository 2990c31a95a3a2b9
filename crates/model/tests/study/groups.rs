//! Factors over a group of settings: levels that are tables, what is wrong with them, and how they become points.

use super::{GOOD, catalogue, check};
use expect_test::expect;
use proofload_model::plan::expand;
use proofload_model::settings::Value;
use proofload_model::study::{Study, parse_assignment, validate};
use std::collections::BTreeMap;

/// A study of the server with one factor, after more lines of its own.
fn study(more: &str, setting: &str, levels: &str) -> String {
    let base = GOOD.split("[[factor]]").next().unwrap_or_default().replace("\"sqlite\"", "\"server\"");
    format!("{base}{more}\n[[factor]]\nsetting = \"{setting}\"\nlevels = {levels}\n")
}

fn read(text: &str, set: &[&str]) -> Study {
    let set: Vec<_> = set.iter().map(|text| parse_assignment(text).expect("an assignment")).collect();
    validate(text, &set, &catalogue()).unwrap_or_else(|faults| panic!("{faults:?}"))
}

/// A setting at each point, in the order of the points.
fn at_points(study: &Study, path: &str) -> Vec<String> {
    let plan = expand(study);
    let value = |point| plan.settings(study, point).get(path).map_or("unset".to_owned(), ToString::to_string);
    plan.points.iter().map(|point| value(point.id)).collect()
}

/// Labels of the levels in the order of the points.
fn labels(study: &Study) -> Vec<String> {
    let label =
        |levels: &BTreeMap<String, Value>| levels.values().map(ToString::to_string).collect::<Vec<_>>().join(" | ");
    expand(study).points.iter().map(|point| label(&point.levels)).collect()
}

const MODES: &str = r#"[{ mode = "remote_flush", standbys = 2 }, {}, { mode = "async" }]"#;

#[test]
fn levels_are_spread_in_the_order_of_the_file_and_leave_the_rest_as_it_is() {
    let study = read(&study("[replication]\nstandbys = 3\nmode = \"none\"", "replication", MODES), &[]);
    assert_eq!(labels(&study), ["mode remote_flush, standbys 2", "unchanged", "mode async"]);
    assert_eq!(at_points(&study, "replication.mode"), ["remote_flush", "none", "async"]);
    assert_eq!(at_points(&study, "replication.standbys"), ["2", "3", "3"]);
    assert_eq!(study.settings.get("replication.rtt"), None);
}

#[test]
fn what_only_some_levels_assign_is_not_given_to_the_others() {
    let levels = r#"[{ memory = "64MiB", cores = 1 }, { cores = 2 }]"#;
    let study = read(&study("", "limits", levels), &[]);
    assert_eq!(study.settings.get("limits.memory"), None);
    assert_eq!(at_points(&study, "limits.memory"), ["64MiB", "unset"]);
    assert_eq!(at_points(&study, "limits.cores"), ["1", "2"]);
}

#[test]
fn a_default_holds_where_a_level_says_nothing() {
    let study = read(&study("", "workload", "[{ users = 5 }, { users = 5, warehouses = 9 }]"), &[]);
    assert_eq!(at_points(&study, "workload.warehouses"), ["4", "9"]);
}

#[test]
fn tables_and_dotted_keys_below_a_level_are_paths() {
    let levels = "[{ warm_up = { round = \"3s\" } }, { warm_up.round = \"4s\", prewarm = true }]";
    let study = read(&study("", "procedure", levels), &[]);
    assert_eq!(labels(&study), ["warm_up.round 3s", "prewarm true, warm_up.round 4s"]);
    assert_eq!(at_points(&study, "procedure.warm_up.round"), ["3s", "4s"]);
}

#[test]
fn levels_may_be_tables_of_their_own() {
    let text =
        study("", "limits", "").replace("levels = \n", "[[factor.levels]]\ncores = 1\n[[factor.levels]]\ncores = 2\n");
    assert_eq!(labels(&read(&text, &[])), ["cores 1", "cores 2"]);
    check(
        &text.replace("cores = 2", "coers = 2"),
        &[],
        &expect![[r#"
            line 15: limits.coers: unknown setting; did you mean limits.cores?
        "#]],
    );
}

#[test]
fn settings_of_the_engine_are_a_group_also_below_its_name() {
    let levels = r#"[{ cache_size = 1 }, { cache_size = 2, synchronous = "off" }]"#;
    let engine = |setting| study("", setting, levels).replace("\"server\"", "\"sqlite\"");
    for setting in ["engine.settings", "engine.settings.sqlite"] {
        let study = read(&engine(setting), &[]);
        assert_eq!(labels(&study), ["cache_size 1", "cache_size 2, synchronous off"]);
        assert_eq!(at_points(&study, &format!("{setting}.cache_size")), ["1", "2"]);
    }
    check(
        &engine("engine.settings").replace("synchronous", "synchrony"),
        &[],
        &expect![[r#"
            line 12: engine.settings.synchrony: sqlite has no setting "synchrony"; it has cache_size, synchronous
        "#]],
    );
}

#[test]
fn the_kind_of_an_engine_can_be_part_of_a_group() {
    let levels = r#"[{ kind = "server" }, { kind = "sqlite", settings.cache_size = 1 }]"#;
    let text = study("", "engine", levels).replace("kind = \"server\"\n", "");
    assert_eq!(at_points(&read(&text, &[]), "engine.kind"), ["server", "sqlite"]);
    check(
        &text.replace("kind = \"sqlite\", ", ""),
        &[],
        &expect![[r#"
            engine.kind: is required: The database engine; `proofload engines` lists them.
        "#]],
    );
    check(
        &text.replace("\"sqlite\"", "\"sqlight\""),
        &[],
        &expect![[r#"
            line 11: engine.kind: unknown engine "sqlight"; built in: sqlite, server, follower, restorer, documents, nothing, group
        "#]],
    );
}

#[test]
fn every_fault_of_the_levels_is_told_at_once() {
    let levels = r#"[
  { mode = "asynch" },
  { standbies = 2 },
  { mode = "async", standbys = "two", network = "namespaces" },
  "async",
  { mode = "async" },
  { mode = "async" },
  { manager_settings = {}, netwrk = {} },
]"#;
    check(
        &study("", "replication", levels),
        &[],
        &expect![[r#"
            line 13: replication.mode: "asynch" must be one of "none", "async", "remote_write", "remote_flush", "remote_apply"; did you mean "async"?
            line 14: replication.standbies: unknown setting; did you mean replication.standbys?
            line 15: replication.standbys: "two" must be a whole number from 1 to 3
            line 15: replication.network: cannot be a factor: this setting is the same for all points
            line 16: replication: "async" is not a table: replication is a group of settings, so each level is a table of the ones it sets, such as { mode = … }
            line 18: replication: level mode async is listed twice
            line 19: replication.netwrk: unknown setting; did you mean replication.network?
        "#]],
    );
}

#[test]
fn an_unknown_group_is_told_with_the_nearest_one() {
    check(
        &study("", "replicatoin", "[{ mode = \"async\" }]"),
        &[],
        &expect![[r#"
            line 11: replicatoin: unknown setting; did you mean replication?
        "#]],
    );
    check(
        &study("", "study", "[{ seed = 1 }, { seed = 2 }]"),
        &[],
        &expect![[r#"
            line 12: study.seed: cannot be a factor: this setting is the same for all points
        "#]],
    );
    check(
        &study("", "limits.memory", "[{ memory = \"64MiB\" }]"),
        &[],
        &expect![[r#"
            line 12: limits.memory: { memory = "64MiB" } must be a size of at least 1MiB, such as "64MiB"
        "#]],
    );
}

#[test]
fn a_setting_is_varied_once() {
    let other = |setting: &str, levels: &str| {
        let more = format!("\n[[factor]]\nsetting = \"{setting}\"\nlevels = {levels}\n");
        study("", "procedure", "[{ prewarm = true }, { warm_up.round = \"3s\" }]") + &more
    };
    check(
        &other("procedure.warm_up.round", "[\"4s\", \"5s\"]"),
        &[],
        &expect![[r#"
            line 15: procedure.warm_up.round: varied by two factors: procedure and procedure.warm_up.round
        "#]],
    );
    check(
        &other("procedure.warm_up", "[{ round = \"4s\" }, { tolerance = 0.1 }]"),
        &[],
        &expect![[r#"
            line 16: procedure.warm_up.round: varied by two factors: procedure and procedure.warm_up
        "#]],
    );
    check(
        &other("procedure", "[{ measure = \"60s\" }, { measure = \"70s\" }]"),
        &[],
        &expect![[r#"
            line 15: procedure: varied by two factors
        "#]],
    );
    check(
        &other("procedure.warm_up.tolerance", "[0.1, 0.2]"),
        &[],
        &expect![[r#"
            valid: 29 settings, 4 points
        "#]],
    );
}

#[test]
fn levels_that_come_to_the_same_are_a_fault() {
    let levels = "[{}, { warehouses = 4 }, { warehouses = 5 }]";
    check(
        &study("", "workload", levels),
        &[],
        &expect![[r#"
            line 11: workload: levels "unchanged" and "warehouses 4" are the same
        "#]],
    );
}

#[test]
fn rules_see_what_levels_of_a_group_assign() {
    check(
        &study("", "limits", "[{ memory = \"32MiB\" }, { memory_per_data = 0.5 }]"),
        &[],
        &expect![[r#"
            line 12: limits.memory: 32MiB is less than server needs to start and work (64MiB)
            line 12: limits.memory_per_data: 0.5 of 4MiB of data is 2MiB, less than server needs to start and work (64MiB)
        "#]],
    );
    check(
        &study("", "replication", "[{}, { rtt = \"1ms\" }]"),
        &[],
        &expect![[r#"
            line 12: replication.rtt: only used with standbys; set replication.mode too, or remove it
        "#]],
    );
    check(
        &study("", "workload", "[{ arrivals = \"poisson\" }, { rate = 5, warehouses = 60 }]"),
        &["engine.kind=sqlite"],
        &expect![[r#"
            line 12: workload.warehouses: more than 50 want the engine server
            line 12: workload.arrivals: only used with a rate; set workload.rate too, or remove it
        "#]],
    );
    let text = study(
        "[search]\nsetting = \"workload.users\"\nfind = \"max\"\nfrom = 1\nto = 9\n",
        "workload",
        "[{ users = 1 }, { users = 2, warehouses = 3 }]",
    );
    check(
        &text,
        &[],
        &expect![[r#"
            line 10: search.setting: workload.users is also a factor; a search chooses its levels itself
        "#]],
    );
    check(
        &text,
        &["search.setting=workload"],
        &expect![[r#"
            search.setting: workload is not a load setting of this workload; a search can vary workload.rate, workload.users
        "#]],
    );
}

#[test]
fn a_setting_given_by_set_leaves_its_group() {
    let text = study("", "replication", MODES);
    let of = |set: &[&str]| labels(&read(&text, set));
    assert_eq!(of(&["replication.mode=remote_flush"]), ["standbys 2", "unchanged"]);
    assert_eq!(of(&["replication.standbys=1"]), ["mode remote_flush", "unchanged", "mode async"]);
    assert_eq!(of(&["replication.mode=async", "replication.standbys=1"]), [""]);
    assert_eq!(of(&["factor.replication=[{ mode = \"async\" }]"]), ["mode async"]);
    let limits = study("", "limits", "[{ memory = \"64MiB\", cores = 1 }, { memory = \"128MiB\" }]");
    assert_eq!(labels(&read(&limits, &["limits.memory=none"])), ["cores 1", "unchanged"]);
    let levels = labels(&read(&text, &["factor.replication.standbys=[1, 2]"]));
    assert_eq!(levels[..2], ["mode remote_flush | 1", "mode remote_flush | 2"]);
}

#[test]
fn records_of_both_forms_are_read() {
    let study = read(&study("", "replication", MODES), &[]);
    let text = serde_json::to_string(&study.factors).expect("factors are JSON");
    assert!(
        text.contains(r#"{"Table":{"mode":{"Text":"remote_flush"},"standbys":{"Integer":2}}},{"Table":{}}"#),
        "{text}"
    );
    assert_eq!(
        serde_json::from_str::<Vec<proofload_model::study::Factor>>(&text).expect("what we wrote"),
        study.factors
    );
}
