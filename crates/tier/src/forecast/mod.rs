
mod curve;

pub use curve::{CurveSettings, MissRatioCurve, simulated_curve};
