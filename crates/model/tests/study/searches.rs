//! `[search]`: what is read, which faults are told, and how the plan grows.

use super::{catalogue, check};
use expect_test::expect;
use proofload_model::plan::{expand, most_runs};
use proofload_model::settings::Value;
use proofload_model::study::{Goal, parse_assignment, search, validate};

/// A study that searches.
const SEARCH: &str = r#"
[study]
name = "s"
title = "t"
[workload]
kind = "toy"
[engine]
kind = "sqlite"
[search]
setting = "workload.users"
find = { p99 = "10ms" }
from = 2
to = 64
"#;

/// A search for the largest throughput measures loads side by side, each pair in one block and in an order that is drawn.
#[test]
fn the_plan_of_a_search_side_by_side_grows_by_blocks() {
    let text = SEARCH.replace("{ p99 = \"10ms\" }", "\"max\"");
    let study = validate(&text, &[parse_assignment("study.repetitions=2").unwrap()], &catalogue()).unwrap();
    let mut plan = expand(&study);
    assert!(plan.has_blocks());
    assert_eq!(most_runs(&study), (2 * 24 - 1) * 2);
    for load in 3..13 {
        let levels = [("workload.users".to_owned(), Value::Integer(load))].into();
        let point = plan.add_point(levels);
        plan.measure(&study, &[0, point], true);
    }
    let blocks: Vec<(Option<u32>, u32)> = plan.runs.iter().map(|run| (run.block, run.point)).collect();
    assert_eq!(blocks[..2], [(Some(0), 0), (Some(1), 0)]);
    let mut first = 0;
    for (number, pair) in (2..).zip(blocks[2..].chunks(2)) {
        let mut points = [pair[0].1, pair[1].1];
        points.sort_unstable();
        assert_eq!((pair[0].0, pair[1].0, points), (Some(number), Some(number), [0, number / 2]));
        first += usize::from(pair[0].1 == 0);
    }
    assert!((3..=17).contains(&first), "the order is drawn: {first} of 20");
    let alone = parse_assignment("search.blocks=false").unwrap();
    assert!(!expand(&validate(&text, std::slice::from_ref(&alone), &catalogue()).unwrap()).has_blocks());
    assert!(validate(SEARCH, &[alone], &catalogue()).is_err(), "a limit is kept or broken by each load alone");
}

#[test]
fn a_search_is_read_with_its_defaults() {
    let study = validate(SEARCH, &[], &catalogue()).unwrap();
    let found = search(&study.settings).unwrap().expect("there is one");
    let goal = Goal::Percentile {
        statistic: "p99".to_owned(),
        at_most: std::time::Duration::from_millis(10),
        operation: "all".to_owned(),
    };
    assert_eq!((found.goal, found.from, found.to), (goal, Value::Integer(2), Value::Integer(64)));
    assert_eq!((found.resolution, found.points), (0.05, 24));
    assert_eq!(study.settings.integer("workload.users"), Ok(2), "the searched setting has a value");
    let overrides = ["search.find=max", "workload.rate=5"].map(|text| parse_assignment(text).unwrap());
    let changed = validate(SEARCH, &overrides, &catalogue()).unwrap();
    assert_eq!(search(&changed.settings).unwrap().map(|search| search.goal), Some(Goal::Max { plateau: 0.02 }));
    let single = validate(SEARCH, &[parse_assignment("workload.users=7").unwrap()], &catalogue()).unwrap();
    assert_eq!(search(&single.settings), Ok(None), "a load that is given is not searched");
    let rate = ["search.setting=workload.rate", "search.from=50/s", "search.to=30000/min"];
    let rate = validate(SEARCH, &rate.map(|text| parse_assignment(text).unwrap()), &catalogue()).unwrap();
    assert_eq!(search(&rate.settings).unwrap().map(|search| search.to), Some(Value::Number(500.0)));
}

#[test]
fn all_faults_of_a_search_come_at_once() {
    let head = SEARCH.split("[search]").next().expect("a head");
    check(
        &format!(
            "{head}[search]\nsetting = \"workload.users\"\nfind = {{ p99 = \"0s\", p50 = \"1ms\" }}\noperation = \"sale\"\n\
             plateau = 0.1\nfrom = 0\nto = \"many\"\nresolution = 2\npoints = 1\nretries = 3\n\
             [[factor]]\nsetting = \"workload.users\"\nlevels = [1, 2]\n"
        ),
        &[],
        &expect![[r#"
            line 10: search.setting: workload.users is also a factor; a search chooses its levels itself
            line 11: search.find.p50: a search needs exactly one goal: "max", or the limit of one percentile
            line 11: search.find.p99: must be above 0
            line 12: search.operation: unknown kind of operation "sale"; known: buy, sell
            line 13: search.plateau: only used with find = "max"; remove it with the limit of a percentile
            line 14: search.from: "0" must be a whole number from 1 to 100
            line 15: search.to: "many" must be a whole number from 1 to 100
            line 16: search.resolution: 2 must be a share from 0.001 to 1, such as 0.05 or "5%"
            line 17: search.points: 1 must be a whole number from 2 to 1000
            line 18: search.retries: unknown setting; did you mean procedure.retries?
        "#]],
    );
    check(
        &format!("{head}[search]\nfind = \"min\"\n"),
        &[],
        &expect![[r#"
        line 10: search.find: "min" must be one of "max"; did you mean "max"?
        search.setting: is required: the setting that is searched, such as workload.virtual_users
        search.from: is required: the smallest load
        search.to: is required: the largest load
    "#]],
    );
    check(
        SEARCH,
        &["search.setting=workload.warehouses", "search.find=max", "search.operation=buy"],
        &expect![[r#"
            search.setting: workload.warehouses is not a load setting of this workload; a search can vary workload.rate, workload.users
            search.operation: is only used with the limit of a percentile; remove it with find = "max"
        "#]],
    );
    check(
        SEARCH,
        &["search.from=64", "search.operation=sell"],
        &expect![[r#"
        line 13: search.to: must be above search.from
    "#]],
    );
    check(
        SEARCH,
        &["search.to=99"],
        &expect![[r#"
        workload.users: more than 90 find no room
    "#]],
    );
}

#[test]
fn the_plan_of_a_search_begins_with_its_smallest_load_and_grows() {
    let overrides = ["factor.limits.memory=[\"64MiB\",\"128MiB\"]", "study.repetitions=2", "study.sentinel_every=3"]
        .map(|text| parse_assignment(text).unwrap());
    let study = validate(SEARCH, &overrides, &catalogue()).unwrap();
    let mut plan = expand(&study);
    assert_eq!((plan.points.len(), most_runs(&study)), (2, 2 * 2 * 24 + 32));
    assert!(plan.points.iter().all(|point| point.levels["workload.users"] == Value::Integer(2)));
    let mut levels = plan.points[0].levels.clone();
    levels.insert("workload.users".to_owned(), Value::Integer(4));
    let before = plan.clone();
    assert_eq!(plan.add_point(levels), 2);
    plan.measure(&study, &[2], false);
    plan.measure(&study, &[0], false);
    assert_eq!(plan.runs[..before.runs.len()], before.runs[..], "a plan only grows");
    let of_first: Vec<u32> = plan.runs.iter().filter(|run| run.point == 0).map(|run| run.repetition).collect();
    assert_eq!(of_first, (0..of_first.len() as u32).collect::<Vec<_>>());
    assert_eq!(plan.runs.iter().filter(|run| run.sentinel).count(), 2);
    let mut seeds: Vec<u64> = plan.runs.iter().map(|run| run.seed).collect();
    seeds.sort_unstable();
    seeds.dedup();
    assert_eq!(seeds.len(), plan.runs.len(), "every run has inputs of its own");
    let factors = plan.factors(&study);
    assert_eq!(factors[1].levels, [Value::Integer(2), Value::Integer(4)]);
}
