//! The verdict on measured loads, on traces of throughput whose truth is known, made from a seed.

#![expect(clippy::print_stdout, reason = "the score is printed for whoever works on the rule")]

mod library;
#[path = "../steady/noise.rs"]
mod noise;
mod others;
mod score;
mod shapes;

use proofload_analysis::random;
