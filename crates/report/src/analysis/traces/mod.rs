//! Test support: traces of throughput whose truth is known, made from a seed, and the detector's score on
//! them. Compiled for tests only.

mod library;
mod noise;
mod published;
mod score;

pub(super) use noise::autoregressive;
