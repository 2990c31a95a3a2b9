//! The detector of steady state on traces of throughput whose truth is known, made from a seed.

mod library;
mod noise;
mod published;
mod score;

use proofload_analysis::random;
