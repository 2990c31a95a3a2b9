//! Every form of the report on synthetic records of every shape.

use crate::support::{Shape, record, shapes};
use proofload_report::{Format, render};

const FORMATS: [Format; 6] = [Format::Html, Format::Markdown, Format::Typst, Format::Csv, Format::Json, Format::Text];

#[test]
fn every_shape_renders_in_every_form() {
    for (name, shape) in shapes() {
        let record = record(&shape);
        // Sources of papers are looked at in `typst.rs`.
        for format in FORMATS.into_iter().filter(|format| *format != Format::Typst) {
            let text = render(&record, format).unwrap();
            assert!(!text.is_empty(), "{name} {format:?}");
            assert!(!text.contains("NaN"), "{name} {format:?} shows a number that is none");
        }
    }
}

#[test]
fn equal_records_give_equal_bytes() {
    let shape = Shape { repetitions: 2, void: vec![1], sentinel_every: Some(2), ..Shape::memory(3) };
    let (first, second) = (record(&shape), record(&shape));
    for format in FORMATS {
        assert!(render(&first, format).unwrap() == render(&second, format).unwrap(), "{format:?}");
    }
}

#[test]
fn a_record_without_points_is_refused() {
    let mut empty = record(&Shape::memory(1));
    empty.plan.points.clear();
    let error = render(&empty, Format::Html).unwrap_err().to_string();
    assert_eq!(error, "the record's plan has no point; was its creation interrupted?");
}

/// Text that would break out of HTML, Markdown, CSV, JSON or a terminal.
const HOSTILE: &str = "</code><script>alert(1)</script><img src=x onerror=\"alert(2)\">'`|=cmd()\u{1b}[31m](http://x)";

#[test]
fn text_of_a_record_stays_text() {
    let mut hostile = record(&Shape { title: HOSTILE.to_owned(), void: vec![0], ..Shape::memory(2) });
    hostile.documents.insert(HOSTILE.to_owned(), format!("```\n{HOSTILE}\n````"));
    hostile.logs[0].text = HOSTILE.to_owned();
    hostile.sessions[0].program = HOSTILE.to_owned();
    for attempt in &mut hostile.attempts {
        attempt.facts[0].effective = Some(HOSTILE.to_owned());
        attempt.checks[0].found = HOSTILE.to_owned();
        attempt.checks[0].offenders = vec![HOSTILE.to_owned()];
        attempt.events[0].listed = HOSTILE.to_owned();
        attempt.series[0].component = HOSTILE.to_owned();
    }
    let html = render(&hostile, Format::Html).unwrap();
    assert!(html.contains("&lt;script&gt;alert(1)"), "the text itself is still shown");
    for forbidden in ["<script", "<img", "\u{1b}"] {
        assert!(!html.contains(forbidden), "HTML holds {forbidden:?}");
    }
    let markdown = render(&hostile, Format::Markdown).unwrap();
    let outside_code = without_code(&markdown);
    let links = outside_code.replace("\\]", "");
    assert_eq!(outside_code.lines().find(|line| line.contains("<script")), None);
    assert_eq!(links.lines().find(|line| line.contains("](http")), None);
    let json: serde_json::Value = serde_json::from_str(&render(&hostile, Format::Json).unwrap()).unwrap();
    assert_eq!(json["study"]["title"], HOSTILE);
    assert!(!render(&hostile, Format::Text).unwrap().contains('\u{1b}'));
}

/// What is printed as YCSB does is read as YCSB's: counts, throughput and latencies return.
/// Markdown without its code blocks and spans.
fn without_code(markdown: &str) -> String {
    let mut kept = String::new();
    let mut fence: Option<&str> = None;
    for line in markdown.lines() {
        let ticks = &line[..line.len() - line.trim_start_matches('`').len()];
        match fence {
            Some(open) if ticks == open => fence = None,
            Some(_) => {}
            None if ticks.len() >= 3 => fence = Some(ticks),
            None => kept.push_str(&without_spans(&line.replace("\\`", ""))),
        }
        kept.push('\n');
    }
    kept
}

/// A line without its code spans: a run of backticks closes at the next run of the same length.
fn without_spans(line: &str) -> String {
    let Some(from) = line.find('`') else { return line.to_owned() };
    let ticks = line[from..].len() - line[from..].trim_start_matches('`').len();
    let (before, rest) = (&line[..from], &line[from + ticks..]);
    let ends = |at: &usize| {
        let run = rest[*at..].len() - rest[*at..].trim_start_matches('`').len();
        run == ticks && !rest[..*at].ends_with('`')
    };
    match rest.match_indices('`').map(|(at, _)| at).find(ends) {
        Some(to) => before.to_owned() + &without_spans(&rest[to + ticks..]),
        None => before.to_owned() + &without_spans(rest),
    }
}
