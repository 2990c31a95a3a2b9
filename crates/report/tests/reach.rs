//! How far the interval of a point reaches, as the report tells it.

use crate::support::{Shape, record};
use proofload_model::deployment::InstanceName;
use proofload_model::series::ENGINE_CHECKPOINTS;
use proofload_model::time::Offset;
use proofload_record::{Record, SeriesPoint};
use proofload_report::{Format, render};
use serde_json::Value as Json;

fn markdown_of(record: &Record) -> String {
    render(record, Format::Markdown).expect("the record has points")
}

fn reach_of(record: &Record) -> Json {
    let text = render(record, Format::Json).expect("the record has points");
    let json: Json = serde_json::from_str(&text).expect("JSON is JSON");
    json["points"][0]["runs"][0]["reach"].clone()
}

/// Lets the engine begin a checkpoint every so many seconds of each load.
fn let_checkpoint(record: &mut Record, every: i64) {
    let name = ENGINE_CHECKPOINTS[0];
    for attempt in &mut record.attempts {
        let seconds = 0..attempt.intervals.len() as i64;
        let begun = |second: i64| if second % every == 0 { 1.0 } else { 0.0 };
        attempt.series.push(SeriesPoint {
            probe: name.probe.to_owned(),
            name: name.name.to_owned(),
            component: String::new(),
            instance: InstanceName::default(),
            unit: "1/s".to_owned(),
            samples: seconds
                .map(|second| (Offset((second + 1) * 1_000_000_000), 1_000_000_000, begun(second)))
                .collect(),
        });
    }
}

#[test]
fn a_point_says_that_recurrence_is_unknown_and_which_movement_is_not_excluded() {
    let plain = record(&Shape::memory(1));
    let markdown = markdown_of(&plain);
    assert!(
        markdown.contains("recurrence unknown: the interval is of this window; a movement of up to "),
        "{markdown}"
    );
    assert!(markdown.contains(" % over the window cannot be excluded."), "{markdown}");
    let reach = reach_of(&plain);
    assert_eq!(
        (reach["recurrences"].as_array().map(Vec::len), reach["holds_enough"].as_bool()),
        (Some(0), Some(false))
    );
    assert!(reach["movement_not_excluded"].as_f64().is_some_and(|share| share > 0.0), "{reach}");
}

#[test]
fn a_point_says_how_many_checkpoints_its_window_holds() {
    let mut often = record(&Shape::memory(1));
    let_checkpoint(&mut often, 2);
    let reach = reach_of(&often);
    let found = &reach["recurrences"][0];
    assert_eq!((found["of"].as_str(), found["period_s"].as_f64()), (Some("checkpoints"), Some(2.0)), "{reach}");
    assert_eq!(reach["holds_enough"], true, "{reach}");
    let markdown = markdown_of(&often);
    assert!(markdown.contains(" recurrences (checkpoints, one every 2"), "{markdown}");
    let mut rarely = record(&Shape::memory(1));
    let_checkpoint(&mut rarely, 10);
    assert_eq!(reach_of(&rarely)["holds_enough"], false);
    let markdown = markdown_of(&rarely);
    assert!(markdown.contains("fewer than 10: the interval is of this window"), "{markdown}");
}
