//! Measurement science as pure functions over plain data: validity, steady state, statistics, curve,
//! bottleneck. No clock, no input or output, no engine, no rendering; chance comes from a seed.

pub mod attribution;
pub mod autocorrelation;
pub mod blocks;
pub mod bootstrap;
pub mod bottleneck;
pub mod cache_size;
pub mod calibration;
pub mod change;
pub mod change_points;
pub mod compare;
pub mod contrast;
pub mod distribution;
pub mod disturbance;
pub mod duet;
pub mod elasticity;
mod equations;
pub mod error;
pub mod generator;
pub mod hierarchy;
pub mod incomplete_blocks;
pub mod knee;
pub mod latency;
mod levels;
#[cfg(test)]
#[path = "../tests/steady/noise.rs"]
mod noise;
pub mod order_statistics;
pub mod quantity;
pub mod queueing;
pub mod quiet;
pub mod random;
mod rank_shift;
pub mod reach;
pub mod readiness;
pub mod recovery;
pub mod rounds;
pub mod search;
pub mod slope;
pub mod stall;
pub mod steady;
mod trend;
pub mod validity;
pub mod warehouse;
pub mod window;
