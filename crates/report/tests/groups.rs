//! Factors over a group of settings: labels in every format, no axis of numbers, points paired by what the levels come to.

use crate::support::replicated::of_points;
use crate::support::{Shape, record};
use proofload_analysis::quantity::Quantity;
use proofload_model::settings::Value;
use proofload_record::Record;
use proofload_report::Format;
use proofload_report::findings::comparison::{Comparison, ComparisonFilter, Level, NamedRecord, compare};
use proofload_report::findings::evaluate;
use proofload_report::findings::replication::replicated;
use std::collections::BTreeMap;

/// A record of one factor over `setting`, with these levels.
fn varied(setting: &str, levels: &str, more: &str) -> Record {
    let factors = format!("[[factor]]\nsetting = \"{setting}\"\nlevels = {levels}\n{more}");
    record(&Shape { factors, ..Shape::memory(1) })
}

const LEVELS: &str = r#"[{ memory = "256MiB", cores = 1 }, {}, { memory = "64MiB" }]"#;

fn limits() -> Record {
    varied("limits", LEVELS, "")
}

fn shown(record: &Record, format: Format) -> String {
    proofload_report::render(record, format).expect("a format of findings")
}

fn named<'r>(file: &str, record: &'r Record) -> NamedRecord<'r> {
    NamedRecord { file: file.to_owned(), sha256: file.to_owned(), record }
}

fn compared<'r>(baseline: &'r Record, candidate: &'r Record, levels: &[&str]) -> Result<Comparison<'r>, String> {
    let levels = levels.iter().filter_map(|text| Level::parse(text)).collect();
    let chosen = ComparisonFilter { metrics: vec!["tpm".to_owned()], levels };
    compare(named("a", baseline), named("b", candidate), &chosen).map_err(|error| error.to_string())
}

/// Labels of the pairs with a result of both, and number of points without a partner.
#[track_caller]
fn pairs(baseline: &Record, candidate: &Record) -> (Vec<String>, usize) {
    let found = compared(baseline, candidate, &[]).expect("comparable");
    (found.rows.iter().map(|row| found.label(row.pair).replace('\u{a0}', " ")).collect(), found.alone.len())
}

#[test]
fn levels_are_labels_in_the_order_of_the_file_in_every_format() {
    let labels = ["cores 1, memory 256 MiB", "unchanged", "memory 64 MiB"];
    let record = limits();
    let found = evaluate(&record);
    assert_eq!(found.points.iter().map(|point| point.label().replace('\u{a0}', " ")).collect::<Vec<_>>(), labels);
    for format in [Format::Html, Format::Markdown, Format::Text] {
        let text = shown(&record, format).replace('\u{a0}', " ").replace("&nbsp;", " ");
        assert!(labels.iter().all(|label| text.contains(label)), "{text}");
    }
    for format in [Format::Markdown, Format::Text] {
        let text = shown(&record, format).replace('\u{a0}', " ").replace("&nbsp;", " ");
        let rows = text.lines().map(|line| line.trim_start_matches(['|', ' ']));
        let row = |label: &&str| rows.clone().position(|row| row.starts_with(*label) && row.contains("valid"));
        let places: Vec<Option<usize>> = labels.iter().map(row).collect();
        assert!(places.is_sorted() && places[0].is_some(), "{places:?}: {text}");
    }
    let csv = shown(&record, Format::Csv);
    assert!(csv.starts_with("point,limits,"), "{csv}");
    for row in ["0,\"cores 1, memory 256MiB\",", "1,unchanged,", "2,memory 64MiB,"] {
        assert!(csv.contains(&format!("\n{row}")), "{row}: {csv}");
    }
    let json: serde_json::Value = serde_json::from_str(&shown(&record, Format::Json)).expect("JSON");
    assert_eq!(json["study"]["factors"][0]["levels"][0], serde_json::json!({ "cores": 1, "memory": "256MiB" }));
    assert_eq!(json["points"][1]["levels"]["limits"], serde_json::json!({}));
}

#[test]
fn a_group_is_never_an_axis_of_numbers_but_another_factor_may_be() {
    let alone = limits();
    assert!(evaluate(&alone).curve.is_err(), "levels of a group are words");
    let one_each = varied("limits", "[{ memory = \"64MiB\" }, { memory = \"128MiB\" }]", "");
    assert!(evaluate(&one_each).curve.is_err(), "also where each of them sets a number");
    let users = "[[factor]]\nsetting = \"workload.virtual_users\"\nlevels = [4, 8]\n";
    let both = varied("limits", LEVELS, users);
    let curve = evaluate(&both).curve.expect("users are numbers");
    assert_eq!(curve.setting, "workload.virtual_users");
    let labels: Vec<String> = curve.groups.iter().map(|group| group.label.replace('\u{a0}', " ")).collect();
    assert_eq!(labels, ["cores 1, memory 256 MiB", "unchanged", "memory 64 MiB"]);
    assert_eq!(evaluate(&both).points[1].label().replace('\u{a0}', " "), "cores 1, memory 256 MiB; 8");
}

#[test]
fn the_list_of_settings_shows_all_values_of_a_setting_in_a_group() {
    let record = limits();
    let text = shown(&record, Format::Markdown);
    let row =
        |path: &str| text.lines().find(|line| line.starts_with(&format!("| `{path}`"))).unwrap_or_default().to_owned();
    assert_eq!(row("limits.memory"), "| `limits.memory` | 256MiB, 512MiB, 64MiB |");
    assert_eq!(row("limits.cores"), "| `limits.cores` | 1, 2 |");
}

#[test]
fn points_are_paired_by_what_their_levels_come_to() {
    let (all, group) = (["cores 1, memory 256 MiB", "unchanged", "memory 64 MiB"], limits());
    assert_eq!(pairs(&group, &limits()), (all.map(str::to_owned).to_vec(), 0));
    let other_order = varied("limits", r#"[{ memory = "64MiB" }, { cores = 1, memory = "256MiB" }]"#, "");
    assert_eq!(pairs(&group, &other_order).0, [all[0], all[2]]);
    let fixed = record(&Shape { factors: String::new(), ..Shape::memory(1) });
    assert_eq!(
        pairs(&group, &fixed),
        (vec!["unchanged".to_owned()], 2),
        "the study's own limits are those of the level"
    );
    assert_eq!(pairs(&fixed, &group), (vec!["cores 2, memory 512 MiB".to_owned()], 2));
    let single = varied("limits.memory", "[\"64MiB\", \"128MiB\"]", "");
    assert_eq!(
        pairs(&group, &single),
        (vec!["memory 64 MiB".to_owned()], 3),
        "a setting of the group is no other factor"
    );
}

#[test]
fn equal_levels_over_other_settings_are_no_pair_and_are_told_apart() {
    let levels = "[{}, { cores = 1, memory = \"64MiB\" }]";
    let ours = varied("limits", levels, "");
    let mut theirs = ours.clone();
    theirs.study.settings.0.insert("limits.cores".to_owned(), Value::Integer(4));
    let found = compared(&ours, &theirs, &[]).expect("comparable");
    assert_eq!(found.rows.len(), 1, "{:?}", found.pairs);
    let labels: Vec<String> = found.pairs.iter().map(|pair| pair.label.replace('\u{a0}', " ")).collect();
    assert_eq!(labels, ["cores 2, memory 512 MiB", "cores 1, memory 64 MiB", "cores 4, memory 512 MiB"]);
    assert!(
        found.differences.iter().all(|difference| !difference.name.starts_with("limits.")),
        "{:?}",
        found.differences
    );
}

#[test]
fn a_comparison_is_asked_for_a_level_or_for_a_setting_of_it() {
    let (ours, theirs) = (limits(), limits());
    let rows = |level: &str| compared(&ours, &theirs, &[level]).map(|found| found.rows.len());
    assert_eq!(rows("limits=memory 64MiB"), Ok(1));
    assert_eq!(rows("limits=cores 1, memory 256 MiB"), Ok(1));
    assert_eq!(rows("limits.cores=2"), Ok(2));
    assert_eq!(
        rows("limits=memory 1GiB").unwrap_err(),
        "no point has limits=memory 1GiB; the levels of limits are 'cores 1, memory 256MiB', unchanged, 'memory 64MiB'; for example \
         --point 'limits=cores 1, memory 256MiB'"
    );
}

/// What protection costs is told of modes in groups as of modes alone.
#[test]
fn a_mode_in_a_group_is_held_against_the_point_without_standbys() {
    let level = |values: &[(&str, Value)]| {
        Value::Table(values.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect::<BTreeMap<_, _>>())
    };
    let text = |word: &str| Value::Text(word.to_owned());
    let alone = level(&[("mode", text("none"))]);
    let protected = level(&[("mode", text("remote_flush")), ("standbys", Value::Integer(2))]);
    let record = of_points(&[&[("replication", alone)], &[("replication", protected)]], 3, 1);
    let found = evaluate(&record);
    let points = replicated(&found);
    assert_eq!(points[1].nodes.len(), 3);
    let kept = points[1].kept.as_ref().expect("a point with standbys").as_ref().map(Quantity::value);
    assert!(kept.as_ref().is_ok_and(|kept| (50.0..200.0).contains(kept)), "{kept:?}");
}
