//! Searches in findings and in every form of the report, on a simulated machine whose throughput rises up to 24 users.

use crate::support::{Shape, searched};
use proofload_analysis::search::Ending;
use proofload_report::findings::{SearchState, evaluate, searches};
use proofload_report::{Format, render};

fn shape(search: &str) -> Shape {
    let more = format!("[search]\nsetting = \"workload.virtual_users\"\n{search}\n");
    Shape { factors: String::new(), more, ..Shape::memory(1) }
}

#[test]
fn the_smallest_number_of_users_with_the_largest_throughput_is_found() {
    let record = searched(&shape("find = \"max\"\nfrom = 8\nto = 64\nplateau = 0.05\nresolution = 1.0"));
    let findings = evaluate(&record);
    let search = &findings.searches[0];
    let found = search.found().expect("the machine has a knee");
    assert!((16.0..=32.0).contains(&found.load), "{}", search.text());
    assert!(search.spent <= 16 && search.path.iter().all(|chosen| chosen.point < findings.points.len()));
    let curve = findings.curve.as_ref().expect("the search's loads make a curve");
    assert_eq!(curve.setting, "workload.virtual_users");
    assert_eq!(curve.groups[0].points.len(), findings.points.len());

    let html = render(&record, Format::Html).unwrap();
    for wanted in ["Path of the search", "throughput may still rise after 1", "virtual users: the smallest load"] {
        assert!(html.contains(wanted), "{wanted}");
    }
    let text = render(&record, Format::Text).unwrap();
    assert!(text.contains("\nsearch: ") && text.lines().all(|line| line.chars().count() <= 100), "{text}");
    let json: serde_json::Value = serde_json::from_str(&render(&record, Format::Json).unwrap()).unwrap();
    let one = &json["searches"][0];
    assert_eq!((&one["state"], &one["answer"]["load"]), (&"found".into(), &found.load.into()));
    assert!(one["answer"]["value"]["ci95"].is_array() || one["answer"]["value"]["ci95"].is_object(), "{one:#}");
    assert_eq!(one["path"].as_array().map(Vec::len), Some(search.path.len()));
    assert!(one["path"][1]["why"][0].is_string(), "{one:#}");
}

#[test]
fn every_combination_of_levels_has_a_search_of_its_own() {
    let factors = "[[factor]]\nsetting = \"limits.memory\"\nlevels = [\"64MiB\", \"256MiB\"]\n".to_owned();
    let record =
        searched(&Shape { factors, ..shape("find = \"max\"\nfrom = 8\nto = 64\nplateau = 0.05\nresolution = 1.0") });
    let findings = evaluate(&record);
    assert_eq!(findings.searches.len(), 2);
    let curve = findings.curve.as_ref().expect("a curve");
    for (search, group) in findings.searches.iter().zip(&curve.groups) {
        assert!(search.found().is_some(), "{}", search.text());
        assert_eq!(search.label, group.label);
    }
    for format in [Format::Csv, Format::Text] {
        let text = render(&record, format).unwrap();
        assert!(!text.contains("NaN") && !text.is_empty(), "{format:?}");
    }
    let text = render(&record, Format::Markdown).unwrap();
    assert!(text.contains("This was done for each of 2 combinations of levels"), "{text}");
}

/// An end of the range is no answer, and a void point is none either.
#[test]
fn what_is_not_found_is_said_in_words() {
    let check = |shape: &Shape, ending: &dyn Fn(&Ending) -> bool, wanted: &str| {
        let record = searched(shape);
        let search = &searches(&record)[0];
        let SearchState::Ended(ended) = &search.state else { panic!("{:?}", search.state) };
        assert!(ending(ended) && search.found().is_none(), "{ended:?}");
        for format in [Format::Markdown, Format::Text] {
            let text = render(&record, format).unwrap().replace("\n  ", " ");
            assert!(text.contains(wanted), "{format:?} without {wanted:?}");
        }
    };
    let beyond = |ending: &Ending| *ending == Ending::BeyondEnd;
    check(&shape("find = \"max\"\nfrom = 8\nto = 16"), &beyond, "throughput still rises towards 16 virtual users");
    let kept = shape("find = { p99 = \"10s\" }\nfrom = 8\nto = 32");
    check(&kept, &beyond, "the limit is still met at 32 virtual users");
    let before = |ending: &Ending| *ending == Ending::BeforeStart;
    let broken = shape("find = { p50 = \"1us\" }\noperation = \"new_order\"\nfrom = 8\nto = 32");
    check(&broken, &before, "the limit is already exceeded at 8 virtual users");
    let void = Shape { void: vec![1, 2], ..shape("find = \"max\"\nfrom = 1\nto = 64") };
    check(&void, &|ending| matches!(ending, Ending::CannotTell { load: 2.0, .. }), "2 virtual users was void twice");
    let few = shape("find = \"max\"\nfrom = 1\nto = 64\npoints = 3");
    check(&few, &|ending| matches!(ending, Ending::Exhausted { .. }), "all 3 measurements were used");
    let once = Shape { void: vec![1], ..shape("find = \"max\"\nfrom = 8\nto = 64\nplateau = 0.05\nresolution = 1.0") };
    let search = &searches(&searched(&once))[0];
    assert!(search.found().is_some(), "{}", search.text());
    assert_eq!(search.path[2].whys, ["the previous attempt was void; measured side by side with 8"]);
}
