//! What a cache of another size would do: miss-ratio curves from a trace, throughput from a queueing network. No devices.

mod curve;
mod queueing;

pub use curve::{CurveSettings, MissRatioCurve, simulated_curve};
pub use queueing::{ClosedNetwork, NetworkForecast, Station};
