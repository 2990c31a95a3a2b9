//! What the work cost: device bytes per logical byte, power, and the data sheet's figures of the study. Each metric ends
//! in `.measured` or `.data_sheet`, so that no reader takes the one for the other.

use super::counters::{LOGICAL, embedded};
use super::estimate::{estimate, measured, over_runs, ratio};
use super::level::Measured;
use super::observed::observed;
use super::run::Pair;
use proofload_analysis::bootstrap::Estimate;
use proofload_analysis::quantity::{Interval, Quantity, Unit};
use proofload_model::series::{self, SeriesName};
use proofload_model::settings::Settings;

/// A metric with its name.
type Named = (&'static str, Measured);

/// All of them, the missing ones with their reason.
pub(super) fn efficiency(runs: &[Pair<'_>], per_second: &Result<Estimate, String>, settings: &Settings) -> Vec<Named> {
    [whole_run(runs), logical(runs), power(runs, per_second, settings), storage(runs, settings)].concat()
}

/// Run time and throughput as papers of this workload print them: over the whole run where it ended by a count.
fn whole_run(runs: &[Pair<'_>]) -> Vec<Named> {
    let ended: Option<Vec<(f64, f64)>> =
        runs.iter().map(|(run, _)| run.completed.map(|run| (run.seconds, run.operations as f64))).collect();
    let Some(ended) = ended.filter(|ended| !ended.is_empty()) else {
        let windows: Vec<f64> = runs.iter().map(|(run, _)| run.measured().len() as f64).collect();
        let time = if windows.is_empty() { Err("no run was completed".to_owned()) } else { Ok(windows) };
        let time = time.map(|windows| over_runs(&windows, Unit::named("s"), "the length of the window was set"));
        return vec![("run_time_s", time), ("run_throughput", Err("the run did not end by a count".to_owned()))];
    };
    let seconds: Vec<f64> = ended.iter().map(|(seconds, _)| *seconds).collect();
    let rates: Vec<f64> = ended.iter().map(|(seconds, operations)| operations / seconds).collect();
    vec![
        ("run_time_s", Ok(over_runs(&seconds, Unit::named("s"), "one run has no spread"))),
        ("run_throughput", Ok(over_runs(&rates, Unit::PER_SECOND, "a total over one run has no spread"))),
    ]
}

/// Bytes of values and what the device made of them.
fn logical(runs: &[Pair<'_>]) -> Vec<Named> {
    let [written, read] = LOGICAL.map(|name| logical_rate(runs, name));
    let per_byte = |probed: SeriesName, logical: &Result<Estimate, String>| -> Measured {
        let logical = logical.clone()?;
        if logical.value <= 0.0 {
            return Err("no byte of a value moved this way".to_owned());
        }
        Ok(ratio(&observed(runs, probed)?, &logical).scaled(1.0, Unit::named("B/B")))
    };
    vec![
        ("device_bytes_written_per_logical_byte", per_byte(series::device::WRITE_BYTES, &written)),
        ("device_bytes_read_per_logical_byte", per_byte(series::device::READ_BYTES, &read)),
        ("logical_write_mb_s", measured(&written, Unit::MB_PER_SECOND, 1e-6)),
        ("logical_read_mb_s", measured(&read, Unit::MB_PER_SECOND, 1e-6)),
    ]
}

fn logical_rate(runs: &[Pair<'_>], name: &str) -> Result<Estimate, String> {
    let counts = runs.iter().flat_map(|(_, attempt)| attempt.intervals.iter().flat_map(|interval| &interval.engine));
    if !counts.into_iter().any(|reading| reading.name == name) {
        return Err("the load did not count bytes of values".to_owned());
    }
    let windows: Option<Vec<Vec<f64>>> = runs.iter().map(|pair| embedded(pair, name)).collect();
    let windows = windows.ok_or("there is no measured window")?;
    estimate(&windows.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

/// Power: as the probe reads it, and by the data sheet.
fn power(runs: &[Pair<'_>], per_second: &Result<Estimate, String>, settings: &Settings) -> Vec<Named> {
    let unit = || Unit::named("operations/s per W");
    let watts = observed(runs, series::power::WATTS);
    let per_watt = |watts: &Result<Estimate, String>| -> Measured {
        Ok(ratio(&per_second.clone()?, &watts.clone()?).scaled(1.0, unit()))
    };
    let sheet = sheet(settings, "hardware.watts");
    vec![
        ("operations_per_watt.measured", per_watt(&watts)),
        ("operations_per_watt.data_sheet", sheet.clone().and_then(|watts| measured(per_second, unit(), 1.0 / watts))),
        ("power_w.measured", measured(&watts, Unit::named("W"), 1.0)),
        ("power_w.data_sheet", sheet.map(|watts| printed(watts, Unit::named("W")))),
    ]
}

/// Requests and room: of the drives' data sheet, and what the window asked of them.
fn storage(runs: &[Pair<'_>], settings: &Settings) -> Vec<Named> {
    let unit = || Unit::named("1/s per GB");
    let capacity = capacity(settings);
    let requests = || -> Measured {
        let gigabytes = capacity.clone()? / 1e9;
        let (reads, writes) = (observed(runs, series::device::READS)?, observed(runs, series::device::WRITES)?);
        let total = (reads.value + writes.value) / gigabytes;
        Ok(Quantity::new(total, unit(), reads.n, Interval::none("a sum of two observed rates")))
    };
    let printed_requests =
        || -> Measured { Ok(printed(sheet(settings, "hardware.drive_iops")? / (capacity.clone()? / 1e9), unit())) };
    let per_unit = || -> Measured {
        Ok(printed(capacity.clone()? / 1e12 / sheet(settings, "hardware.rack_units")?, Unit::named("TB per rack unit")))
    };
    vec![
        ("device_iops_per_gb.measured", requests()),
        ("device_iops_per_gb.data_sheet", printed_requests()),
        ("capacity_per_rack_unit.data_sheet", per_unit()),
    ]
}

fn capacity(settings: &Settings) -> Result<f64, String> {
    let bytes = settings.bytes("hardware.capacity").map(|bytes| bytes.0 as f64);
    bytes.ok().filter(|bytes| *bytes > 0.0).ok_or_else(|| not_stated("hardware.capacity"))
}

fn sheet(settings: &Settings, path: &str) -> Result<f64, String> {
    settings.number(path).ok().filter(|value| *value > 0.0).ok_or_else(|| not_stated(path))
}

fn not_stated(path: &str) -> String {
    format!("the study does not state {path}")
}

/// A figure of a data sheet.
fn printed(value: f64, unit: Unit) -> Quantity {
    Quantity::new(value, unit, 1, Interval::none("as printed on a data sheet"))
}
