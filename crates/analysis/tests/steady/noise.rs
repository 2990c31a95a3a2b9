//! Noise with memory.

use crate::random::Random;

/// First-order autoregressive noise with variance one and lag-one correlation `rho`, stationary from
/// its first value.
pub(crate) fn autoregressive(seed: u64, n: usize, rho: f64) -> Vec<f64> {
    let mut random = Random::stream(seed, 77);
    let innovation = (1.0 - rho * rho).sqrt();
    let mut value = random.normal();
    (0..n)
        .map(|_| {
            let now = value;
            value = rho * value + innovation * random.normal();
            now
        })
        .collect()
}
