//! The raise of a limit that is confirmed: in which blocks it is made, what is said of it, and where there is none.

use crate::experiments::{
    CPU, CPU_BOUND, READS, System, both_ways, carry_out, experiment_of, exported, studied, tested, text_of, words,
};
use proofload_model::facts::host;
use proofload_model::intervention::{Change, ConfirmAsked, Experiment, USERS};
use proofload_model::samples::Fact;
use proofload_record::Record;
use proofload_report::findings::attribution::{RaiseResult, attributions};
use proofload_report::{Format, render};
use serde_json::Value as Json;
use std::sync::atomic::{AtomicU32, Ordering};

/// The record of an experiment at a step of 30 % with so many blocks at most.
fn tested_at_30(blocks: u32, system: &System) -> Record {
    let mut record = studied();
    let experiment = experiment_of(&record, blocks);
    let asked = ConfirmAsked { step: 0.3, ..experiment.asked };
    carry_out(&mut record, &Experiment { asked, ..experiment }, system, usize::MAX);
    record
}

fn raise_of(record: &Record) -> RaiseResult {
    attributions(record).remove(0).raise.expect("a limit is confirmed")
}

/// Blocks with a visit that raises a resource, and how many blocks there are.
fn raised_blocks(record: &Record) -> (Vec<(u32, String)>, u32) {
    let visits = exported(record, "visits");
    let block = |row: &std::collections::BTreeMap<String, String>| row["block"].parse::<u32>().expect("it is a number");
    let raised = visits.iter().filter(|row| row["change"] == "raised");
    let blocks = visits.iter().map(block).max().map_or(0, |last| last + 1);
    (raised.map(|row| (block(row), row["resource"].clone())).collect(), blocks)
}

#[test]
fn what_more_of_a_lone_limit_gives_is_found_in_the_last_three_blocks() {
    let record = tested(&CPU_BOUND);
    let (raised, blocks) = raised_blocks(&record);
    let last: Vec<(u32, String)> = (blocks - 3..blocks).map(|block| (block, CPU.to_owned())).collect();
    assert_eq!(raised, last, "of {blocks} blocks");
    let raise = raise_of(&record);
    let elasticity = raise.throughput.as_ref().expect("three blocks tell");
    assert!((elasticity.value - 1.0).abs() < 0.25 && elasticity.blocks == 3, "{elasticity:?}");
    let (from, to) = raise.levels.expect("it was read");
    assert!((from - 0.5).abs() < 1e-9 && (to - 0.6).abs() < 1e-9, "{from} {to}");
    let (before, after) = raise.used.expect("it is counted");
    assert!((after / before - 1.2).abs() < 1e-6, "{before} {after}");
    let json: Json = serde_json::from_str(&render(&record, Format::Json).unwrap()).unwrap();
    let told = &json["attribution"][0]["raise"];
    assert_eq!((told["name"].as_str(), told["visits"].as_u64()), (Some(CPU), Some(3)));
    assert!(told["E"][1].as_f64() < told["E"][0].as_f64() && told["why"].is_null(), "{told}");
    assert!(!text_of(&record).contains("What was used of it"), "{}", text_of(&record));
}

#[test]
fn where_few_blocks_are_asked_for_the_last_three_of_them_have_the_raise() {
    let record = tested_at_30(6, &CPU_BOUND);
    let blocks: Vec<u32> = raised_blocks(&record).0.into_iter().map(|(block, _)| block).collect();
    assert_eq!((blocks, raised_blocks(&record).1), (vec![3, 4, 5], 6));
}

#[test]
fn the_next_limit_is_told_with_its_distance() {
    // 13 % more CPU time is used, then something else binds: ln 1.13 / ln 1.3 is 0.47.
    let near = System {
        throughput: |change, low| if change.raises(CPU) { 1.13 } else { both_ways(change, CPU, low) },
        used: |name, of| match name {
            CPU => (1.13 / of).min(1.0),
            _ => 0.1 / of,
        },
        ..CPU_BOUND
    };
    let record = tested_at_30(12, &near);
    let value = raise_of(&record).throughput.expect("three blocks tell").value;
    assert!((value - 1.13_f64.ln() / 1.3_f64.ln()).abs() < 0.15, "{value}");
    let text = text_of(&record);
    for part in [
        "30 % more CPU time of the database would give ",
        " more throughput (elasticity to raising it ",
        ", and no more than that: the next limit is about ",
        "What was used of it rose by 13 %: 86 % of what it was raised to.",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn a_raise_that_gives_nothing_says_so_and_that_nothing_more_was_used() {
    let at_once = System {
        throughput: |change, low| if change.raises(CPU) { 1.0 } else { both_ways(change, CPU, low) },
        used: |name, of| match name {
            CPU => (1.0 / of).min(1.0),
            _ => 0.1 / of,
        },
        ..CPU_BOUND
    };
    let record = tested_at_30(12, &at_once);
    assert_eq!(words(&record)[0], (CPU.to_owned(), "confirmed"), "that it binds is another claim");
    let text = text_of(&record);
    for part in
        ["30 % more CPU time of the database would give nothing: ", "; the next limit is ", "did not rise: 77 %"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    for format in [Format::Html, Format::Markdown, Format::Text] {
        render(&record, format).unwrap_or_else(|error| panic!("{error}"));
    }
}

#[test]
fn what_the_host_does_not_have_is_not_raised_and_the_reason_is_told() {
    let mut record = studied();
    for attempt in &mut record.attempts {
        attempt.facts.push(Fact { number: Some(0.55), ..host::CORES.observed("few", "a test") });
    }
    let experiment = experiment_of(&record, 12);
    carry_out(&mut record, &experiment, &CPU_BOUND, usize::MAX);
    assert!(raised_blocks(&record).0.is_empty(), "no visit is spent on it");
    let why = raise_of(&record).throughput.unwrap_err();
    assert_eq!(why, "0.6 CPU seconds per second are more than the time of 0.55 cores");
    let text = text_of(&record);
    assert!(text.contains("More of it would help: no other limit that was lowered binds within 20 %"), "{text}");
    assert!(text.contains(&format!(" It was not raised: {why}.")), "{text}");
}

#[test]
fn a_raise_that_was_not_in_force_is_not_repeated_and_voids_nothing_else() {
    let refused = System {
        in_force: |name, change| match name {
            CPU if change.raises(CPU) => Some(0.5),
            READS => Some(1000.0),
            _ => None,
        },
        ..CPU_BOUND
    };
    let record = tested(&refused);
    assert_eq!(raised_blocks(&record).0.len(), 1);
    assert_eq!(words(&record)[0], (CPU.to_owned(), "confirmed"));
    let why = raise_of(&record).throughput.unwrap_err();
    assert!(why.contains("0.5 was in force in a visit that asked for 0.6"), "{why}");
    let text = text_of(&record);
    // Reads were not lowered as asked: what all others cost does not tell either.
    assert!(text.contains("Whether more of it would help cannot be told, because read IOPS"), "{text}");
    assert!(text.contains(&format!(" That it was raised does not count: {why}.")), "{text}");
}

#[test]
fn users_and_what_is_not_confirmed_are_never_raised() {
    let idle = System {
        throughput: |change, low| if *change == Change::One(USERS.to_owned()) { low } else { 1.0 },
        response: |_, _| 1.0,
        ..CPU_BOUND
    };
    let record = tested(&idle);
    assert_eq!(words(&record)[2], (USERS.to_owned(), "confirmed"));
    assert_eq!((raised_blocks(&record).0.len(), attributions(&record).remove(0).raise), (0, None));
}

#[test]
fn a_raise_that_was_begun_goes_on_in_the_next_attempt() {
    let mut record = studied();
    let experiment = experiment_of(&record, 6);
    // Three blocks of at most five visits and a joint one, one block with a raise, and a part of the next.
    carry_out(&mut record, &experiment, &CPU_BOUND, 24);
    let begun = raised_blocks(&record).0.len();
    assert!((1..3).contains(&begun), "{begun}");
    carry_out(&mut record, &experiment, &CPU_BOUND, usize::MAX);
    assert!(raise_of(&record).throughput.is_ok(), "{:?}", raise_of(&record));
    let complete = exported(&record, "visits");
    let complete = complete.iter().filter(|row| row["change"] == "raised" && row["block_complete"] == "true");
    assert_eq!(complete.count(), 3);
}

#[test]
fn a_raise_that_three_blocks_do_not_decide_is_made_in_further_ones() {
    static RAISES: AtomicU32 = AtomicU32::new(0);
    // It gives all in one visit and nothing in the next.
    let uneven = System {
        throughput: |change, low| match change {
            change if change.raises(CPU) => 1.0 + 0.3 * f64::from(RAISES.fetch_add(1, Ordering::Relaxed) % 2),
            change => both_ways(change, CPU, low),
        },
        ..CPU_BOUND
    };
    let mut record = studied();
    let experiment = experiment_of(&record, 12);
    let experiment = Experiment { asked: ConfirmAsked { step: 0.3, ..experiment.asked }, ..experiment };
    carry_out(&mut record, &experiment, &uneven, usize::MAX);
    let (raised, blocks) = raised_blocks(&record);
    assert!(raised.len() > 3 && blocks == 12, "{raised:?} in {blocks} blocks");
    // With more blocks asked for there are more of them.
    let more = Experiment { asked: ConfirmAsked { blocks: 14, ..experiment.asked }, ..experiment };
    carry_out(&mut record, &more, &uneven, usize::MAX);
    assert!(raised_blocks(&record).0.len() > raised.len());
}
