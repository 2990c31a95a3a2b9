//! The note of an engine's description in reports of studies of it.

use crate::support::{Shape, record};
use proofload_model::engines::named_engine;
use proofload_model::settings::Value;
use proofload_report::{Format, render};

/// How often a report of a study of this engine has the note on SQL Server.
fn notes(engine: &str) -> usize {
    let mut record = record(&Shape::memory(2));
    record.study.settings.0.insert("engine.kind".to_owned(), Value::Text(engine.to_owned()));
    let note = named_engine("sqlserver").and_then(|known| known.note.as_deref()).expect("it has a note");
    let text = render(&record, Format::Markdown).expect("the record has points").replace('\u{a0}', " ");
    text.matches(note).count()
}

#[test]
fn a_report_of_an_engine_with_a_note_has_it_once() {
    assert_eq!(["sqlserver", "sqlite"].map(notes), [1, 0]);
}
