//! The paper as Typst source: its content is one value, whatever a record says, and equal records give equal sources.

use crate::support::{Shape, record, shapes};
use proofload_report::{Appendix, Format, ReportOptions, render_with};
use serde_json::Value;

const SHA256: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

fn source(shape: &Shape, appendix: Appendix) -> String {
    let options = ReportOptions { appendix, sha256: SHA256, ..ReportOptions::default() };
    render_with(&record(shape), Format::Typst, options).expect("the record has points")
}

/// The string that a source hands to its template, and the template; read as Typst reads a string.
fn parts(source: &str) -> (Value, &str) {
    let (_, rest) = source.split_once("#let paper = json(bytes(\"").expect("a source begins with its content");
    let mut text = String::new();
    let mut letters = rest.char_indices();
    let end = loop {
        match letters.next().expect("the string ends") {
            (place, '"') => break place,
            (_, '\\') => text.push(letters.next().expect("something is escaped").1),
            (_, letter) => text.push(letter),
        }
    };
    let template = rest[end..].strip_prefix("\"))\n").expect("nothing but the content stands there");
    (serde_json::from_str(&text).expect("the content is JSON"), template)
}

/// Every figure by its id.
fn figures(value: &Value) -> Vec<&Value> {
    match value {
        Value::Object(object) if object.contains_key("svg") => vec![value],
        Value::Object(object) => object.values().flat_map(figures).collect(),
        Value::Array(items) => items.iter().flat_map(figures).collect(),
        _ => Vec::new(),
    }
}

fn without_drawings(value: &mut Value) {
    match value {
        Value::Object(object) => {
            if let Some(svg) = object.get_mut("svg") {
                *svg = Value::from("drawn");
            }
            object.values_mut().for_each(without_drawings);
        }
        Value::Array(items) => items.iter_mut().for_each(without_drawings),
        _ => {}
    }
}

#[test]
fn the_content_for_two_points_is_as_it_was_looked_at() {
    let source = source(&Shape { void: vec![0], ..Shape::memory(2) }, Appendix::Folded);
    let (mut content, _) = parts(&source);
    without_drawings(&mut content);
    expect_test::expect_file!["golden/two-points-paper.json"].assert_eq(&format!("{content:#}\n"));
}

/// Text that would end a string, or is markup, code or mathematics of Typst.
const HOSTILE: &str = "\")) #panic(1) $x$ *bold* _it_ `raw` [c] <l> @ref = head // no \\ #{ } ~ \u{202e}\u{1b}[31m";

#[test]
fn text_of_a_record_never_becomes_markup() {
    let plain = source(&Shape::memory(2), Appendix::Full);
    let hostile = source(&Shape { title: HOSTILE.to_owned(), ..Shape::memory(2) }, Appendix::Full);
    let ((_, template), (content, same)) = (parts(&plain), parts(&hostile));
    assert_eq!(template, same, "a title changes the content alone");
    assert_eq!(content["title"], HOSTILE.replace(['\u{202e}', '\u{1b}'], ""));
}

#[test]
fn a_whole_paper_has_what_a_page_folds() {
    let shape = Shape::memory(3);
    let (folded, full) = (source(&shape, Appendix::Folded), source(&shape, Appendix::Full));
    let ((folded, _), (full, _)) = (parts(&folded), parts(&full));
    let count = |value: &Value, key: &str| value[key].as_array().map_or(0, Vec::len);
    assert_eq!((count(&folded, "appendix"), count(&full, "left_out")), (0, 0));
    assert_eq!(count(&folded, "left_out"), count(&full, "appendix"));
    assert!(count(&full, "appendix") >= 5);
    assert!(figures(&folded).iter().all(|figure| figure["data"].is_null()));
    assert!(figures(&full).iter().all(|figure| figure["data"]["is"] == "table"));
}

/// Ids that pieces of text link to, and those that parts have.
fn links_and_ids(value: &Value, links: &mut Vec<String>, ids: &mut Vec<String>) {
    match value {
        Value::Array(items) => {
            if let [Value::String(is), Value::String(id), Value::String(_)] = items.as_slice()
                && is == "link"
            {
                links.push(id.clone());
            }
            items.iter().for_each(|item| links_and_ids(item, links, ids));
        }
        Value::Object(object) => {
            ids.extend(object.get("id").and_then(Value::as_str).map(str::to_owned));
            object.values().for_each(|item| links_and_ids(item, links, ids));
        }
        _ => {}
    }
}

#[test]
fn every_shape_has_a_paper_whose_figures_are_described_and_whose_links_lead_somewhere() {
    for (name, shape) in shapes() {
        let record = record(&shape);
        for appendix in [Appendix::Folded, Appendix::Full] {
            let options = ReportOptions { appendix, ..ReportOptions::default() };
            let source = render_with(&record, Format::Typst, options).unwrap();
            let (content, _) = parts(&source);
            assert!(!content["opening"]["verdict"].as_array().unwrap().is_empty(), "{name}");
            for figure in figures(&content) {
                assert!(figure["alt"].as_str().is_some_and(|alt| alt.len() > 20), "{name}: {}", figure["id"]);
                assert!(figure["width"].as_f64().is_some_and(|width| (100.0..=800.0).contains(&width)), "{name}");
            }
            check_links(&format!("{name} {appendix:?}"), &content);
        }
    }
}

#[track_caller]
fn check_links(name: &str, content: &Value) {
    let (mut links, mut ids) = (Vec::new(), Vec::new());
    links_and_ids(content, &mut links, &mut ids);
    let lost: Vec<&String> = links.iter().filter(|link| !ids.contains(link)).collect();
    assert!(lost.is_empty(), "{name}: {lost:?}");
    let all = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), all, "{name}: an id stands twice");
}
