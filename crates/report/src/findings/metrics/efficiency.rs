//! What the work cost: device bytes per logical byte, power, and the data sheet's figures of the study. Each metric ends
//! in `.measured` or `.data_sheet`, so that no reader takes the one for the other.

use super::counters::{LOGICAL, embedded};
use crate::findings::estimate::{estimate, measured, over_runs, ratio};
use crate::findings::level::Measured;
use crate::findings::observed::observed;
use crate::findings::run::Pair;
use crate::metrics::{
    CAPACITY_PER_RACK_UNIT, DEVICE_READ_PER_BYTE, DEVICE_WRITTEN_PER_BYTE, DEVICE_WRITTEN_PER_LOG_BYTE, MetricName,
    OPERATIONS_PER_WATT, OPERATIONS_PER_WATT_OF_SHEET, POWER, POWER_OF_SHEET, REQUESTS_PER_GB,
    REQUESTS_PER_GB_OF_SHEET, RUN_THROUGHPUT, RUN_TIME, VALUES_READ, VALUES_WRITTEN,
};
use proofload_analysis::bootstrap::Estimate;
use proofload_analysis::quantity::{Interval, Quantity, Unit};
use proofload_model::series::{self, SeriesName};
use proofload_model::settings::{Settings, setting};

/// A metric with its value.
type Named = (MetricName, Measured);

/// All of them, the missing ones with their reason.
pub(crate) fn efficiency(runs: &[Pair<'_>], per_second: &Result<Estimate, String>, settings: &Settings) -> Vec<Named> {
    [whole_run(runs), logical(runs), power(runs, per_second, settings), storage(runs, settings)].concat()
}

/// Run time and throughput as papers of this workload print them: over the whole run where it ended by a count.
fn whole_run(runs: &[Pair<'_>]) -> Vec<Named> {
    let ended: Option<Vec<(f64, f64)>> =
        runs.iter().map(|(run, _)| run.completed.map(|run| (run.seconds, run.operations as f64))).collect();
    let Some(ended) = ended.filter(|ended| !ended.is_empty()) else {
        let windows: Vec<f64> = runs.iter().map(|(run, _)| run.measured().len() as f64).collect();
        let time = if windows.is_empty() { Err("no run was completed".to_owned()) } else { Ok(windows) };
        let time =
            time.map(|windows| over_runs(&windows, RUN_TIME.quantity_unit(), "the length of the window was set"));
        return vec![(RUN_TIME, time), (RUN_THROUGHPUT, Err("the run did not end at an operation count".to_owned()))];
    };
    let seconds: Vec<f64> = ended.iter().map(|(seconds, _)| *seconds).collect();
    let rates: Vec<f64> = ended.iter().map(|(seconds, operations)| operations / seconds).collect();
    vec![
        (RUN_TIME, Ok(over_runs(&seconds, RUN_TIME.quantity_unit(), "a single run has no spread"))),
        (
            RUN_THROUGHPUT,
            Ok(over_runs(&rates, RUN_THROUGHPUT.quantity_unit(), "a total over a single run has no spread")),
        ),
    ]
}

/// Bytes of values and what the device made of them.
fn logical(runs: &[Pair<'_>]) -> Vec<Named> {
    let [written, read] = LOGICAL.map(|name| logical_rate(runs, name));
    let per_byte = |probed: SeriesName, logical: &Result<Estimate, String>| -> Measured {
        let logical = logical.clone()?;
        if logical.value <= 0.0 {
            return Err("no value bytes were transferred in this direction".to_owned());
        }
        Ok(ratio(&observed(runs, probed)?, &logical).scaled(1.0, DEVICE_WRITTEN_PER_BYTE.quantity_unit()))
    };
    vec![
        (DEVICE_WRITTEN_PER_LOG_BYTE, per_log_byte(runs)),
        (DEVICE_WRITTEN_PER_BYTE, per_byte(series::device::WRITE_BYTES, &written)),
        (DEVICE_READ_PER_BYTE, per_byte(series::device::READ_BYTES, &read)),
        (VALUES_WRITTEN, measured(&written, VALUES_WRITTEN.quantity_unit(), 1e-6)),
        (VALUES_READ, measured(&read, VALUES_READ.quantity_unit(), 1e-6)),
    ]
}

/// What the device wrote for each byte that the engine says it wrote to its log.
fn per_log_byte(runs: &[Pair<'_>]) -> Measured {
    let told = series::ENGINE_LOG.iter().find_map(|name| observed(runs, *name).ok());
    let log = told.filter(|log| log.value > 0.0).ok_or("the engine does not report the bytes of its log")?;
    Ok(ratio(&observed(runs, series::device::WRITE_BYTES)?, &log)
        .scaled(1.0, DEVICE_WRITTEN_PER_LOG_BYTE.quantity_unit()))
}

fn logical_rate(runs: &[Pair<'_>], name: &str) -> Result<Estimate, String> {
    let counts = runs.iter().flat_map(|(_, attempt)| attempt.intervals.iter().flat_map(|interval| &interval.engine));
    if !counts.into_iter().any(|reading| reading.name == name) {
        return Err("the load did not count value bytes".to_owned());
    }
    let windows: Option<Vec<Vec<f64>>> = runs.iter().map(|pair| embedded(pair, name)).collect();
    let windows = windows.ok_or("there is no measured window")?;
    estimate(&windows.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

/// Power: as the probe reads it, and by the data sheet.
fn power(runs: &[Pair<'_>], per_second: &Result<Estimate, String>, settings: &Settings) -> Vec<Named> {
    let unit = || OPERATIONS_PER_WATT.quantity_unit();
    let watts = observed(runs, series::power::WATTS);
    let per_watt = |watts: &Result<Estimate, String>| -> Measured {
        Ok(ratio(&per_second.clone()?, &watts.clone()?).scaled(1.0, unit()))
    };
    let sheet = sheet(settings, setting::HARDWARE_WATTS);
    vec![
        (OPERATIONS_PER_WATT, per_watt(&watts)),
        (OPERATIONS_PER_WATT_OF_SHEET, sheet.clone().and_then(|watts| measured(per_second, unit(), 1.0 / watts))),
        (POWER, measured(&watts, POWER.quantity_unit(), 1.0)),
        (POWER_OF_SHEET, sheet.map(|watts| printed(watts, POWER_OF_SHEET.quantity_unit()))),
    ]
}

/// Requests and room: of the drives' data sheet, and what the window asked of them.
fn storage(runs: &[Pair<'_>], settings: &Settings) -> Vec<Named> {
    let unit = || REQUESTS_PER_GB.quantity_unit();
    let capacity = capacity(settings);
    let requests = || -> Measured {
        let gigabytes = capacity.clone()? / 1e9;
        let (reads, writes) = (observed(runs, series::device::READS)?, observed(runs, series::device::WRITES)?);
        let total = (reads.value + writes.value) / gigabytes;
        Ok(Quantity::new(total, unit(), reads.n, Interval::none("a sum of two observed rates")))
    };
    let printed_requests = || -> Measured {
        Ok(printed(sheet(settings, setting::HARDWARE_DRIVE_IOPS)? / (capacity.clone()? / 1e9), unit()))
    };
    let per_unit = || -> Measured {
        Ok(printed(
            capacity.clone()? / 1e12 / sheet(settings, setting::HARDWARE_RACK_UNITS)?,
            CAPACITY_PER_RACK_UNIT.quantity_unit(),
        ))
    };
    vec![
        (REQUESTS_PER_GB, requests()),
        (REQUESTS_PER_GB_OF_SHEET, printed_requests()),
        (CAPACITY_PER_RACK_UNIT, per_unit()),
    ]
}

fn capacity(settings: &Settings) -> Result<f64, String> {
    let bytes = settings.bytes(setting::HARDWARE_CAPACITY).map(|bytes| bytes.0 as f64);
    bytes.ok().filter(|bytes| *bytes > 0.0).ok_or_else(|| not_stated(setting::HARDWARE_CAPACITY))
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
