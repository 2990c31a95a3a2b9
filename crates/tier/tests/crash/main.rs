//! Loss of power at every call of a device: whatever is left is recovered, twice, and holds only what it may.
//!
//! `PROOFLOAD_TIER_CRASH_STATES` asks for more states than the default; `cargo xtask crash tier` does.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]
#![expect(clippy::print_stdout, reason = "a long run says what it has done")]

#[path = "../support/mod.rs"]
mod support;

mod explorer;
mod flips;
mod model;
mod states;
mod trial;

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use explorer::{Explorer, LookCounts};
use trial::{Trial, TrialFault};

/// States that one run of the tests checks, in each of its whole parts.
const STATES: u64 = 1_400;
/// States that all of the tests check together, at least, where nobody asks for another number.
const LEAST_STATES: u64 = 10_000;
/// Calls of [`explore`] in all of the tests. Whole parts and fractions of them are seven and a half: 10,500 states.
const EXPLORATIONS: u64 = 11;
/// Parts among which the states that are asked for are shared.
const PARTS: u64 = 6;

/// Explorations that are done, and the states that all of them have checked.
static EXPLORED: Mutex<(u64, u64)> = Mutex::new((0, 0));

fn asked() -> Option<u64> {
    std::env::var("PROOFLOAD_TIER_CRASH_STATES").ok().and_then(|text| text.parse::<u64>().ok())
}

fn states() -> u64 {
    asked().map_or(STATES, |states| states.div_ceil(PARTS))
}

/// Counts the states of an exploration that is done; the last one of a run of all tests says whether there were enough.
fn count(states: u64) {
    let mut explored = EXPLORED.lock().unwrap();
    *explored = (explored.0 + 1, explored.1 + states);
    let (explorations, all) = *explored;
    drop(explored);
    assert!(explorations <= EXPLORATIONS, "another exploration was added: it counts too");
    assert!(explorations < EXPLORATIONS || asked().is_some() || all >= LEAST_STATES, "only {all} states were checked");
}

/// Runs trials of consecutive seeds until enough states were checked.
fn explore(first_seed: u64, states: u64, trial: fn(u64) -> Trial) -> Arc<LookCounts> {
    let checked = Arc::new(LookCounts::default());
    let mut seed = first_seed;
    while checked.states.load(Ordering::SeqCst) < states {
        Explorer::run(&trial(seed), &checked);
        seed += 1;
    }
    println!("seeds {first_seed} to {seed}: {checked:?}");
    count(checked.states.load(Ordering::SeqCst));
    checked
}

/// Runs trials of consecutive seeds until a crash state is refused by one of these words.
fn find(words: &[&str], trial: fn(u64) -> Trial) {
    let found = std::panic::catch_unwind(|| {
        for seed in 1..200 {
            Explorer::run(&trial(seed), &Arc::default());
        }
    });
    let error = found.expect_err("the fault went unnoticed");
    let text = error.downcast_ref::<String>().map_or("", String::as_str);
    assert!(words.iter().any(|words| text.contains(words)), "{text}");
}

#[test]
fn a_write_back_pool_survives_a_crash_at_any_call() {
    let checked = explore(1, states(), Trial::write_back);
    let (states, closed) = (checked.states.load(Ordering::SeqCst), checked.closed.load(Ordering::SeqCst));
    assert!(closed > states, "few lines were closed: {checked:?}");
}

#[test]
fn a_pool_of_any_mode_survives_a_crash_at_any_call() {
    explore(1_000_000, states(), Trial::any_mode);
}

#[test]
fn a_pool_whose_devices_fail_survives_a_crash_at_any_call() {
    explore(2_000_000, states(), |seed| Trial::any_mode(seed).with(TrialFault::Calls(20 + seed % 200)));
}

#[test]
fn a_pool_whose_origins_lose_what_they_do_not_sync_survives_a_crash_at_any_call() {
    explore(3_000_000, states(), |seed| Trial::any_mode(seed).with(TrialFault::OriginSyncs(2 + seed % 6)));
}

#[test]
fn a_pool_whose_cache_fails_for_good_loses_nothing_at_any_call() {
    let checked =
        explore(5_000_000, states(), |seed| Trial::any_mode(seed).with(TrialFault::DeadCache(10 + seed * 7 % 150)));
    assert!(checked.free.load(Ordering::SeqCst) > 0, "no cache was given up: {checked:?}");
}

#[test]
fn commits_of_several_blocks_survive_a_crash_at_any_call() {
    // Its states are larger, and take longer.
    let checked = explore(4_000_000, states() / 8, Trial::bursts);
    assert!(checked.closed.load(Ordering::SeqCst) > 0, "no line was closed: {checked:?}");
}

#[test]
fn a_pool_whose_lines_stay_open_survives_a_crash_at_any_call() {
    // Those of the planted faults below, without them.
    let trials = [
        explore(2, states() / 4, |seed| Trial::write_back(seed).open()),
        explore(3, states() / 16, |seed| Trial::bursts(seed).open()),
    ];
    assert!(trials.iter().all(|checked| checked.states.load(Ordering::SeqCst) > 0));
}

#[test]
fn a_bit_of_a_closed_line_that_changes_between_a_crash_and_its_recovery_is_found_and_reaches_no_origin() {
    // Seeds whose lines are closed all the time.
    let trials = [
        explore(1_500_000, states(), |seed| Trial::write_back(seed * 4 + 1).with(TrialFault::ClosedFlips(2))),
        explore(1_600_000, states(), |seed| Trial::any_mode(seed * 4 + 1).with(TrialFault::ClosedFlips(2))),
        explore(1_700_000, states() / 16, |seed| Trial::bursts(seed * 4 + 1).with(TrialFault::ClosedFlips(2))),
    ];
    let flipped = trials.each_ref().map(|checked| checked.flipped.load(Ordering::SeqCst));
    assert!(flipped[0] > states() / 4 && flipped[1..].iter().all(|flipped| *flipped > 0), "{trials:?}");
}

#[test]
fn a_changed_bit_that_passes_for_the_cut_end_of_a_write_is_found() {
    let words = ["the flipped bit is read", "the flipped bit reaches the origin"];
    find(&words, |seed| Trial::write_back(seed).open().with(TrialFault::OpenFlips(1)));
}

#[test]
fn a_planted_fault_is_found() {
    find(&["permitted are"], |seed| Trial::write_back(seed).open().with(TrialFault::UnsyncedCache));
    // Closed lines differ from their checksums before anything is read.
    let words = ["a closed line differs from its checksums"];
    find(&words, |seed| Trial::write_back(seed * 4 + 1).with(TrialFault::UnsyncedCache));
}

#[test]
fn a_line_that_is_closed_before_its_data_are_durable_is_found() {
    let words = ["a closed line differs from its checksums"];
    find(&words, |seed| Trial::write_back(seed * 4 + 1).with(TrialFault::UnsyncedClosing));
}

#[test]
fn a_closed_line_that_is_overwritten_in_place_is_found() {
    let words = ["a closed line differs from its checksums"];
    find(&words, |seed| Trial::write_back(seed).with(TrialFault::ClosedLines));
}

#[test]
fn a_sync_that_does_not_wait_for_all_clean_writes_is_found() {
    // The second where the line has been given up by then, and the origin is read.
    find(&["has another content without its cache", "permitted are"], |seed| {
        Trial::write_back(seed).open().with(TrialFault::EarlySyncs)
    });
}

#[test]
fn a_lost_sync_of_an_origin_is_found() {
    find(&["unit"], |seed| Trial::any_mode(seed).with(TrialFault::UntoldOriginSyncs(3)));
}

#[test]
fn a_cache_that_was_given_up_and_comes_back_is_found() {
    find(&["unit"], |seed| Trial::any_mode(seed).with(TrialFault::UnlabelledOrigins(10 + seed * 7 % 150)));
}

#[test]
fn a_rest_of_an_earlier_opening_that_is_replayed_is_found() {
    // Which of these it is depends on what the rest says.
    let words = [
        "became dirty by a crash",
        "permitted are",
        "another recovery",
        "what the cache says of",
        "has another content without its cache",
    ];
    find(&words, |seed| Trial::bursts(seed).open().with(TrialFault::ForgottenOpenings));
}

#[test]
fn a_line_that_becomes_dirty_by_a_crash_is_found() {
    find(&["became dirty by a crash"], |seed| Trial::write_back(seed).with(TrialFault::ForgottenCleaning));
}
