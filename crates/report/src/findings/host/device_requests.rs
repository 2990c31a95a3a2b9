//! What a request of the block device was like: its size, and its latency by Little's law.

use crate::findings::estimate::{estimate, ratio};
use crate::findings::level::Measured;
use crate::findings::observed::in_windows;
use crate::findings::run::Pair;
use crate::findings::telemetry::{total, traces};
use crate::metrics::{DEVICE_LATENCY, DEVICE_READ_SIZE, DEVICE_WRITE_SIZE, MetricName};
use proofload_model::series::SeriesName;
use proofload_model::series::device::{QUEUE, READ_BYTES, READS, WRITE_BYTES, WRITES};

/// Sizes and latency of requests over the windows of runs. Latency: mean requests in flight over requests a second. Source: Little 1961.
pub(crate) fn of_requests(runs: &[Pair<'_>]) -> Vec<(MetricName, Measured)> {
    let of = |above, below: &[SeriesName], factor, metric: MetricName| {
        let quantity = over(runs, above, below)?;
        Ok(quantity.scaled(factor, metric.quantity_unit()))
    };
    vec![
        (DEVICE_LATENCY, of(QUEUE, &[READS, WRITES], 1e3, DEVICE_LATENCY)),
        (DEVICE_READ_SIZE, of(READ_BYTES, &[READS], 1e-3, DEVICE_READ_SIZE)),
        (DEVICE_WRITE_SIZE, of(WRITE_BYTES, &[WRITES], 1e-3, DEVICE_WRITE_SIZE)),
    ]
}

/// The mean of a series over that of others together.
fn over(runs: &[Pair<'_>], above: SeriesName, below: &[SeriesName]) -> Measured {
    let windows = |probed| in_windows(runs, |attempt| total(&traces(attempt, probed)), "the device");
    let above = windows(above)?;
    let parts: Vec<Vec<Vec<f64>>> = below.iter().map(|part| windows(*part)).collect::<Result<_, _>>()?;
    let sums: Vec<Vec<f64>> = (0..above.len()).map(|run| sum(&parts, run)).collect();
    if sums.iter().flatten().sum::<f64>() <= 0.0 {
        return Err("there were no such requests".to_owned());
    }
    let slices = |windows: &[Vec<f64>]| estimate(&windows.iter().map(Vec::as_slice).collect::<Vec<_>>());
    Ok(ratio(&slices(&above)?, &slices(&sums)?))
}

/// Several series of a run added up, second by second.
fn sum(parts: &[Vec<Vec<f64>>], run: usize) -> Vec<f64> {
    let of_run = || parts.iter().filter_map(|part| part.get(run));
    let seconds = of_run().map(Vec::len).min().unwrap_or(0);
    (0..seconds).map(|second| of_run().map(|part| part[second]).sum()).collect()
}
