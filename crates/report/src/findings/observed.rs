//! Telemetry within the windows of a point's runs.

use super::estimate::estimate;
use super::run::Pair;
use super::telemetry::{Trace, average, mean_of_cores, total, traces};
use proofload_analysis::bootstrap::Estimate;
use proofload_model::series::{self, SeriesName};
use proofload_record::Attempt;

/// A series within each run's window.
pub(super) fn in_windows(
    runs: &[Pair<'_>],
    pick: impl Fn(&Attempt) -> Option<Trace>,
    what: &str,
) -> Result<Vec<Vec<f64>>, String> {
    let window = |(run, attempt): &Pair<'_>| {
        let trace = pick(attempt)?.within(run.window_seconds()?);
        Some(trace.values()).filter(|values| !values.is_empty())
    };
    let found: Option<Vec<Vec<f64>>> = runs.iter().map(window).collect();
    found.filter(|found| !found.is_empty()).ok_or_else(|| format!("{what} was not observed"))
}

/// Use of the cores in each run's window, %; `None` where it was not observed in one of them.
pub(super) fn cpu_windows(runs: &[Pair<'_>]) -> Option<Vec<Vec<f64>>> {
    in_windows(runs, mean_of_cores, "").ok()
}

/// A series in each run's window, its instances added up; `None` where it was not observed in one of them.
pub(super) fn device_windows(runs: &[Pair<'_>], probed: SeriesName) -> Option<Vec<Vec<f64>>> {
    in_windows(runs, |attempt| of_all_instances(attempt, probed), "").ok()
}

/// The instances of a series together: as a mean where it is a share of each.
fn of_all_instances(attempt: &Attempt, probed: SeriesName) -> Option<Trace> {
    let found = traces(attempt, probed);
    if probed == series::device::BUSY { average(&found) } else { total(&found) }
}

/// A series over the windows of all runs, its instances added up.
pub(super) fn observed(runs: &[Pair<'_>], probed: SeriesName) -> Result<Estimate, String> {
    let what = match probed {
        series::memory::MAJOR_FAULTS | series::memory::REFAULTS => "the memory of the control group",
        series::power::WATTS => "power",
        _ => "the device",
    };
    let found = in_windows(runs, |attempt| of_all_instances(attempt, probed), what)?;
    let windows: Vec<&[f64]> = found.iter().map(Vec::as_slice).collect();
    estimate(&windows)
}
