//! The page is one well-formed file that fetches nothing, and every chart of it can be read without seeing it.

use crate::support::{KeyValue, Shape, key_value, record, shapes};
use proofload_report::{Format, render};

/// Elements without an end.
const ALONE: &[&str] = &["meta", "line", "rect", "path", "circle"];

/// Tags of a page in order: name, is it an end, attributes.
fn tags(page: &str) -> Vec<(String, bool, String)> {
    let mut tags = Vec::new();
    let body = page.split_once("</style>").expect("the page has a style sheet").1;
    let head = page.split_once("<style>").expect("the page has a style sheet").0;
    for text in [head, body] {
        for part in text.split('<').skip(1) {
            let (tag, after) = part.split_once('>').unwrap_or_else(|| panic!("unclosed tag <{part}"));
            assert!(!after.contains('>'), "a bare > after <{tag}>");
            let end = tag.starts_with('/');
            let tag = tag.trim_start_matches('/');
            let (name, attributes) = tag.split_once(' ').unwrap_or((tag, ""));
            tags.push((name.trim_end_matches('/').to_owned(), end, attributes.to_owned()));
        }
    }
    tags
}

fn check_well_formed(name: &str, page: &str) {
    let mut open: Vec<String> = Vec::new();
    let mut ids: Vec<String> = Vec::new();
    for (tag, end, attributes) in tags(page) {
        if tag == "!DOCTYPE" || ALONE.contains(&tag.as_str()) {
            continue;
        }
        if end {
            // The style sheet itself was cut out.
            if tag != "style" {
                assert_eq!(open.pop().as_deref(), Some(tag.as_str()), "{name}: </{tag}>");
            }
        } else if tag != "style" {
            open.push(tag.clone());
        }
        if let Some((_, id)) =
            attributes.split_once("id=\"").filter(|(before, _)| before.is_empty() || before.ends_with(' '))
        {
            ids.push(id.split('"').next().unwrap_or_default().to_owned());
        }
    }
    assert!(open.is_empty(), "{name}: {open:?} stay open");
    let many = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), many, "{name}: an id stands twice");
    for link in page.split("href=\"#").skip(1).filter_map(|part| part.split('"').next()) {
        assert!(link == "paper" || ids.iter().any(|id| id == link), "{name}: #{link} leads nowhere");
    }
}

fn check_fetches_nothing(name: &str, page: &str) {
    for forbidden in ["http:", "https:", "src=", "url(", "@import", "<script", "<link", "<iframe", "<object", "srcset"]
    {
        assert!(!page.contains(forbidden), "{name} holds {forbidden}");
    }
}

fn check_charts(name: &str, page: &str) {
    for figure in page.split("<figure").skip(1) {
        let figure = figure.split("</figure>").next().unwrap_or_default();
        assert!(figure.contains("<svg"), "{name}: a figure without a drawing");
        assert!(
            figure.contains("<figcaption>") && figure.contains("<table"),
            "{name}: a figure without caption or data"
        );
        for drawing in figure.split("<svg").skip(1) {
            let label = drawing.split_once("aria-label=\"").and_then(|(_, rest)| rest.split_once('"'));
            let (label, _) = label.unwrap_or_else(|| panic!("{name}: a drawing without description"));
            assert!(label.len() > 30, "{name}: a drawing described as {label:?}");
            assert!(drawing.starts_with(" class=\"chart") && drawing.contains("viewBox="), "{name}");
        }
    }
}

#[test]
fn pages_of_every_shape_are_well_formed_and_stand_alone() {
    let stalled = KeyValue { stall: vec![25], rate: Some(3_000), not_found: 1, ..KeyValue::engines() };
    let key_values = [("key-value", key_value(&KeyValue::plain())), ("key-value, overloaded", key_value(&stalled))];
    let records = shapes().into_iter().map(|(name, shape)| (name, record(&shape))).chain(key_values);
    for (name, record) in records {
        let page = render(&record, Format::Html).unwrap();
        check_well_formed(name, &page);
        check_fetches_nothing(name, &page);
        check_charts(name, &page);
        assert!(page.len() < 5_000_000, "{name}: {} bytes", page.len());
    }
}

#[test]
fn the_page_for_two_points_is_as_it_was_looked_at() {
    let page = render(&record(&Shape { void: vec![0], ..Shape::memory(2) }), Format::Html).unwrap();
    expect_test::expect_file!["golden/two-points.html"].assert_eq(&page);
}

#[test]
fn a_page_disclaims_only_what_its_workload_is() {
    let foot = |record| {
        let page = render(&record, Format::Html).unwrap();
        page.split_once("<footer>").expect("a page has a foot").1.to_owned()
    };
    assert!(foot(record(&Shape::memory(2))).contains("TPC-C-derived"));
    assert!(!foot(key_value(&KeyValue::plain())).contains("TPC"));
}

/// Bars of a study without a valid point show what was observed, in grey, and no empty axis.
#[test]
fn void_points_have_grey_bars() {
    let factors = "[[factor]]\nsetting = \"engine.kind\"\nlevels = [\"sqlite\", \"postgresql\"]\n".to_owned();
    let page = |void: Vec<u32>| {
        let record = record(&Shape { factors: factors.clone(), void, ..Shape::memory(2) });
        render(&record, Format::Html).unwrap()
    };
    let (none, one) = (page(vec![0, 1]), page(vec![1]));
    let bars = |page: &str, class: &str| page.matches(&format!("class=\"{class}\"")).count();
    assert!(!none.contains("no valid result") && bars(&none, "bar s0") == 0, "{}", bars(&none, "bar s0"));
    // Each figure is drawn twice, wide and narrow.
    assert_eq!([bars(&none, "bar void"), bars(&one, "bar void"), bars(&one, "bar s0")], [4, 2, 2]);
    assert!(none.contains(" void</text>"), "the value says that it is no result");
}

/// Points whose windows have gaps have no throughput at all, and no figure of it.
#[test]
fn a_figure_without_a_value_is_left_out() {
    let mut record = record(&Shape::memory(2));
    for attempt in &mut record.attempts {
        let (from, to) = attempt.window().unwrap();
        attempt.intervals.retain(|interval| interval.index < from + 2 || interval.index >= to);
    }
    let page = render(&record, Format::Html).unwrap();
    assert!(page.contains("the window has gaps") && !page.contains("id=\"figure-throughput\""));
}
