//! The detector of steady state on traces of throughput whose truth is known, made from a seed.

#![expect(clippy::print_stdout, reason = "the score is printed for whoever tunes the detector")]

mod library;
mod noise;
mod published;
mod score;
mod snia;

use proofload_analysis::random;
