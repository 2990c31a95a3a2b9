//! Every form of the report on synthetic records of every shape.

mod support;

use proofload_report::{Format, render};
use support::{Shape, record};

const FORMATS: [Format; 5] = [Format::Html, Format::Markdown, Format::Csv, Format::Json, Format::Text];

/// Shapes with 1, 2, 4 and 8 points, repetitions, void and missing points, no telemetry, words as levels, several factors.
fn shapes() -> Vec<(&'static str, Shape)> {
    let factors = |text: &str| Shape { factors: text.to_owned(), ..Shape::memory(1) };
    let engines = "[[factor]]\nsetting = \"engine.kind\"\nlevels = [\"sqlite\", \"postgresql\"]\n";
    let memory = "[[factor]]\nsetting = \"limits.memory\"\nlevels = [\"64MiB\", \"256MiB\"]\n";
    vec![
        ("one point", Shape::memory(1)),
        ("two points", Shape::memory(2)),
        ("four points", Shape::memory(4)),
        ("eight points", Shape::memory(8)),
        ("three repetitions", Shape { repetitions: 3, ..Shape::memory(2) }),
        ("a void point", Shape { void: vec![1], ..Shape::memory(4) }),
        ("a missing point", Shape { not_run: vec![2], ..Shape::memory(4) }),
        ("no valid point", Shape { void: vec![0, 1], ..Shape::memory(2) }),
        ("nothing run", Shape { not_run: vec![0, 1], ..Shape::memory(2) }),
        ("no telemetry", Shape { blind: true, ..Shape::memory(2) }),
        ("sentinels", Shape { sentinel_every: Some(2), ..Shape::memory(4) }),
        ("no factor", factors("")),
        ("words as levels", factors(engines)),
        ("two factors", factors(&format!("{engines}{memory}"))),
    ]
}

#[test]
fn every_shape_renders_in_every_form_twice_the_same() {
    for (name, shape) in shapes() {
        let record = record(&shape);
        for format in FORMATS {
            let text = render(&record, format).unwrap();
            assert!(!text.is_empty(), "{name} {format:?}");
            assert!(text == render(&record, format).unwrap(), "{name} {format:?} differs when rendered again");
            assert!(!text.contains("NaN"), "{name} {format:?} shows a number that is none");
        }
    }
}
