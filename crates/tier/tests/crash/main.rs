//! Loss of power at every call of a device: whatever is left is recovered, twice, and holds only what it may.
//!
//! `PROOFLOAD_TIER_CRASH_STATES` asks for more states than the default; `cargo xtask crash tier` does.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]
#![expect(clippy::print_stdout, reason = "a long run says what it has done")]

#[path = "../support/mod.rs"]
mod support;

mod explorer;
mod model;
mod states;

use explorer::{Explorer, Trial};

/// States that one run of the tests checks, in each of its parts.
const STATES: u64 = 1_200;

fn states() -> u64 {
    let asked = std::env::var("PROOFLOAD_TIER_CRASH_STATES").ok().and_then(|text| text.parse::<u64>().ok());
    asked.map_or(STATES, |states| states.div_ceil(3))
}

/// Runs trials of consecutive seeds until enough states were checked.
fn explore(first_seed: u64, trial: fn(u64) -> Trial) {
    let mut checked = 0;
    let mut seed = first_seed;
    while checked < states() {
        checked += Explorer::run(trial(seed));
        seed += 1;
    }
    println!("{checked} crash states, seeds {first_seed} to {seed}");
}

#[test]
fn a_write_back_pool_survives_a_crash_at_any_call() {
    explore(1, Trial::write_back);
}

#[test]
fn a_pool_of_any_mode_survives_a_crash_at_any_call() {
    explore(1_000_000, Trial::any_mode);
}

#[test]
fn a_pool_whose_devices_fail_survives_a_crash_at_any_call() {
    explore(2_000_000, Trial::faulty);
}

#[test]
fn a_planted_fault_is_found() {
    let found = std::panic::catch_unwind(|| {
        for seed in 1..200 {
            Explorer::run(Trial::lying(seed));
        }
    });
    assert!(found.is_err(), "a cache that does not sync went unnoticed");
}

#[test]
fn a_sync_that_does_not_wait_for_all_clean_writes_is_found() {
    let found = std::panic::catch_unwind(|| {
        for seed in 1..200 {
            Explorer::run(Trial::hasty(seed));
        }
    });
    assert!(found.is_err(), "a clean line that its origin has not went unnoticed");
}
