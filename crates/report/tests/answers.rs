//! The first screen of every kind of study, as it is read: verdict, answer and what it rests on. Among them the weak answers, which may not say
//! more than their intervals.

use crate::support::replicated::{replicated, replicated_often};
use crate::support::{Appliance, KeyValue, Shape, key_value, let_rise, record, searched, shapes, slower, warehouse};
use expect_test::expect_file;
use proofload_record::Record;
use proofload_report::{Format, render};
use serde_json::Value as Json;
use std::fmt::Write;

/// The first screen of a record in lines.
fn screen(record: &Record) -> String {
    let json: Json = serde_json::from_str(&render(record, Format::Json).expect("it has points")).expect("JSON is JSON");
    let answer = &json["answer"];
    let text = |key: &str| answer[key].as_str().unwrap_or_default().to_owned();
    let mut lines = format!("{}: {}\n", text("state"), text("verdict"));
    if !text("answer").is_empty() {
        let _ = writeln!(lines, "  answer: {}", text("answer"));
    }
    for (name, claim) in answer["claims"].as_object().into_iter().flatten() {
        let _ = writeln!(lines, "  {name}: {}", claim.as_str().unwrap_or_default());
    }
    lines
}

#[track_caller]
fn check(records: impl IntoIterator<Item = (String, Record)>, expected: &expect_test::ExpectFile) {
    let mut all = String::new();
    for (name, record) in records {
        let _ = writeln!(all, "# {name}\n{}", screen(&record));
    }
    expected.assert_eq(&all);
}

fn named(name: &str, record: Record) -> (String, Record) {
    (name.to_owned(), record)
}

#[test]
fn sweeps_and_choices() {
    let all = shapes().into_iter().map(|(name, shape)| named(name, record(&shape)));
    check(all, &expect_file!["golden/answers-of-sweeps.txt"]);
}

/// A study over one factor.
fn over(factor: &str, levels: &str) -> Shape {
    Shape { factors: format!("[[factor]]\nsetting = \"{factor}\"\nlevels = [{levels}]\n"), ..Shape::memory(1) }
}

#[test]
fn weak_answers_say_no_more_than_their_intervals() {
    let plateau = over("limits.memory", "\"1GiB\", \"2GiB\", \"4GiB\"");
    let knee = over("limits.memory", "\"64MiB\", \"128MiB\", \"2GiB\", \"4GiB\"");
    let levels: Vec<String> = (1..=24).map(|step| format!("\"{}MiB\"", 96 * step)).collect();
    let many = Shape { repetitions: 3, ..over("limits.memory", &levels.join(", ")) };
    let as_fast = record(&many);
    let slow = |slow: &[u32]| slower(&Shape { slow: slow.to_vec(), ..many.clone() }, &as_fast);
    let (one_slower, four_slower) = (slow(&[19]), slow(&[9, 14, 15, 19]));
    let mut moving = record(&Shape { repetitions: 3, ..Shape::memory(2) });
    let_rise(&mut moving);
    let all = [
        named("levels on a plateau", record(&plateau)),
        named("the same, repeated", record(&Shape { repetitions: 4, ..plateau })),
        named("a knee between two levels", record(&knee)),
        named("the same, repeated", record(&Shape { repetitions: 3, ..knee })),
        named("many levels", as_fast),
        named("the same, of which one on the plateau is slower", one_slower),
        named("the same, of which four are", four_slower),
        named("levels of which none changes anything", record(&over("limits.cores", "1, 2"))),
        named("falling levels", record(&over("limits.memory", "\"4GiB\", \"64MiB\""))),
        named("throughput that moved", moving),
        named("two of three points missing", record(&Shape { not_run: vec![0, 1], ..Shape::memory(3) })),
        named("one of three points void", record(&Shape { void: vec![2], ..Shape::memory(3) })),
    ];
    check(all, &expect_file!["golden/weak-answers.txt"]);
}

#[test]
fn other_kinds_of_studies() {
    let rate = |rate| KeyValue { rate: Some(rate), ..KeyValue::engines() };
    let search = |lines: &str| {
        let more = format!("[search]\nsetting = \"workload.virtual_users\"\n{lines}\n");
        searched(&Shape { factors: String::new(), more, ..Shape::memory(1) })
    };
    let all = [
        named("key-value, one point", key_value(&KeyValue::plain())),
        named("key-value, three engines", key_value(&KeyValue::engines())),
        named("key-value at a rate that all keep", key_value(&rate(900))),
        named("key-value at a rate that one keeps", key_value(&rate(3_000))),
        named("a search with an answer", search("find = \"max\"\nfrom = 8\nto = 64\nplateau = 0.05\nresolution = 1.0")),
        named(
            "a search whose range ends too early",
            search("find = \"max\"\nfrom = 1\nto = 4\nplateau = 0.05\nresolution = 1.0"),
        ),
        named("standbys", replicated()),
        named("standbys, repeated", replicated_often(4)),
        named("a warehouse, rows and columns", warehouse(&Appliance::stores())),
    ];
    check(all, &expect_file!["golden/answers-of-other-kinds.txt"]);
}

/// Names a reason of the class that is blamed, how far an unfinished study is, and what measures the rest.
#[test]
fn without_a_valid_point_the_reason_is_of_the_class_that_is_blamed() {
    let mut record = record(&Shape { void: vec![0], not_run: vec![3], ..Shape::memory(4) });
    let_rise(&mut record);
    let reasons = |point: usize| proofload_report::findings::evaluate(&record).points[point].verdict.reasons();
    assert!(reasons(1)[0].contains("still rising"), "the other points are void for another reason: {:?}", reasons(1));
    let text = render(&record, Format::Markdown).unwrap();
    let (_, opening) = text.split_once("✗ ").unwrap();
    let opening = opening.lines().next().unwrap();
    assert!(
        opening.starts_with(
            "**No result yet: 3 of 4 points measured, none valid, because a check failed.** Consistency condition 1: 1 of 4 \
             warehouses differs (1 of 3 points). Grey values"
        ) && opening.contains("**What to do:** `proofload resume X.proof` measures 1 missing point. Read the report's"),
        "{opening}"
    );
}
