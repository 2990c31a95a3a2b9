//! What is said of how far a result follows a resource, of sums beyond the whole, of users that hinder one another, and of the role that
//! could be tested next.

use crate::experiments::{CPU, CPU_BOUND, FULL, READS, System, is_lowered, tested, tested_with, text_of, words};
use crate::support::{Shape, record, replicated};
use proofload_model::deployment::InstanceName;
use proofload_model::intervention::{Change, ResourceClass, USERS};
use proofload_model::settings::Value;
use proofload_record::Record;
use proofload_report::findings::attribution::attributions;
use proofload_report::{Format, render};
use serde_json::Value as Json;

const CORES: &str = "limits.cores";

fn markdown(record: &Record) -> String {
    render(record, Format::Markdown).unwrap_or_else(|error| panic!("{error}")).replace('\u{a0}', " ")
}

#[test]
fn what_follows_more_than_one_for_one_is_not_called_one_for_one() {
    let steep = System {
        throughput: |change, low| if is_lowered(change, CPU) { low * low } else { 1.0 },
        response: |change, low| match change {
            Change::One(name) if name == USERS => low * low * low,
            change if is_lowered(change, READS) => 1.0 / (low * low * low),
            _ => 1.0,
        },
        ..CPU_BOUND
    };
    let record = tested(&steep);
    assert_eq!(words(&record)[0], (CPU.to_owned(), "confirmed"));
    assert!(text_of(&record).contains("], more than one for one)"), "{}", text_of(&record));
    let told = markdown(&record);
    for part in [
        "confirmed, more than one for one",
        "follows more than one for one: less shortens it",
        "moves the other way, more than one for one: less lengthens it",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    let plain = markdown(&tested(&CPU_BOUND));
    assert!(plain.contains("follows one for one: less shortens it"), "{plain}");
    assert!(!plain.contains("confirmed, more than"), "{plain}");
}

#[test]
fn the_99th_percentile_of_cores_counts_only_where_it_is_long_against_their_stalls() {
    let cores = [(CORES, ResourceClass::Speed)];
    // 20 ms in the untouched point of these systems; a step of 20 % stalls cores for 2 ms at a stretch.
    let short = System { response: |_, _| 0.25, ..CPU_BOUND };
    let found = attributions(&tested_with(&cores, &short)).remove(0);
    let why = found.resources[1].response.as_ref().unwrap_err();
    assert!(why.contains("shows these stalls") && why.contains("2 ms at a stretch"), "{why}");
    assert!(found.resources[1].throughput.is_ok(), "throughput is not excluded");
    let long = System { response: |_, _| 4.0, ..CPU_BOUND };
    let found = attributions(&tested_with(&cores, &long)).remove(0);
    assert!(found.resources[1].response.is_ok(), "{:?}", found.resources[1].response);
}

#[test]
fn a_sum_far_beyond_the_whole_is_the_sign_of_two_limits_close_together() {
    let both = System {
        throughput: |change, low| if is_lowered(change, CPU) || is_lowered(change, READS) { low } else { 1.0 },
        ..FULL
    };
    let text = text_of(&tested(&both));
    for part in ["less than nothing: elasticities add up to ", "two limits close together, of which raising one alone"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    let alone = text_of(&tested(&CPU_BOUND));
    assert!(!alone.contains("close together"), "{alone}");
    // What a raise gave counts more than what the sum lets suppose.
    let raised = System {
        throughput: |change, low| match change {
            change if change.raises(CPU) || change.raises(READS) => 2.0 - low,
            change if is_lowered(change, CPU) || is_lowered(change, READS) => low,
            _ => 1.0,
        },
        ..FULL
    };
    let text = text_of(&tested(&raised));
    assert!(text.contains("what raising one alone gave says otherwise"), "{text}");
}

#[test]
fn users_that_hinder_one_another_are_not_said_to_cost_nothing() {
    let crowded = System {
        throughput: |change, low| match change {
            Change::One(name) if name == USERS => 1.7,
            change if is_lowered(change, CPU) => low,
            _ => 1.0,
        },
        ..CPU_BOUND
    };
    let text = text_of(&tested(&crowded));
    assert!(text.contains("Fewer users give ") && !text.contains("cost no throughput"), "{text}");
    assert!(text.contains("Users hinder one another: with fewer of them throughput rises, and the 99th"), "{text}");
}

#[test]
fn json_has_what_was_asked_and_the_table_whether_it_was_reached() {
    let record = tested(&CPU_BOUND);
    let json: Json = serde_json::from_str(&render(&record, Format::Json).unwrap()).unwrap();
    let one = &json["attribution"][0];
    assert_eq!(one["visit_s"], serde_json::json!([6, 9]));
    let asked: Vec<f64> =
        one["resources"].as_array().unwrap().iter().map(|one| one["asked"].as_f64().unwrap()).collect();
    assert!(asked.len() == 3 && asked.iter().all(|asked| (asked + 0.2).abs() < 1e-9), "{asked:?}");
    let told = markdown(&record);
    assert!(told.contains("%, reached") && told.contains("%, not reached"), "{told}");
}

#[test]
fn a_limit_of_which_95_percent_is_used_was_used() {
    let used = System { used: |name, of| if name == CPU { 0.96 } else { 0.1 / of }, ..CPU_BOUND };
    let text = text_of(&tested_with(&[(READS, ResourceClass::Capacity)], &used));
    assert!(!text.contains("CPU time of the database, 96 % used,"), "{text}");
    let refuted = System { throughput: |_, _| 1.0, ..used };
    let text = text_of(&tested_with(&[(READS, ResourceClass::Capacity)], &refuted));
    assert!(text.contains("CPU time of the database was 96 % used and is refuted"), "{text}");
}

/// A record of one engine whose role has so many threads that use so much of a core.
fn of_role(engine: &str, threads: u32, percent: f64) -> Record {
    let mut record = record(&Shape::memory(4));
    record.study.settings.0.insert("engine.kind".to_owned(), Value::Text(engine.to_owned()));
    for attempt in &mut record.attempts {
        replicated::role(attempt, &InstanceName::primary(), "walwriter", threads, percent);
    }
    record
}

#[test]
fn the_only_thread_of_a_role_that_fills_a_core_is_named_with_its_test() {
    let named = "proofload run STUDY --set limits.thread=walwriter --set limits.thread_cpu=1";
    let told = markdown(&of_role("postgresql", 1, 94.0));
    assert!(told.contains(named) && told.contains("The only thread of walwriter used 94 % of a core"), "{told}");
    for (engine, threads, percent) in [("postgresql", 1, 85.0), ("postgresql", 4, 94.0), ("sqlite", 1, 94.0)] {
        assert!(
            !markdown(&of_role(engine, threads, percent)).contains("limits.thread="),
            "{engine} {threads} {percent}"
        );
    }
}
