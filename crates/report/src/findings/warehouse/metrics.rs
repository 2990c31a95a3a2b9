//! The warehouse metrics of a point, under the names that published references use.

use super::super::estimate::{measured, over_runs, ratio};
use super::super::level::Measured;
use super::super::run::Pair;
use super::data::{WarehouseData, warehouse_data};
use super::queries::{Class, QueryTotals, query_totals};
use super::rates;
use crate::metrics::{
    COMPRESSION, COMPRESSION_WITH_INDEXES, CPU, CPU_TIME, DATABASE_CPU, DRIVER_CPU, HIT_SHARE, IO_THROUGHPUT,
    LOGICAL_BY_CPU, MetricName, PHYSICAL_BY_CPU, QUERIES_PER_HOUR, QUERIES_PER_HOUR_PER_TB, QUERY_TIME, SCAN_FILE,
    SCAN_LOGICAL, SCAN_PHYSICAL,
};
use proofload_analysis::bootstrap::Estimate;
use proofload_analysis::quantity::{Interval, Quantity};
use proofload_analysis::warehouse::{MbPerSecond, RawTerabytes, compression, hit_share, io_average};

/// A metric with its value.
type Named = (MetricName, Measured);

/// All of them, the missing ones with their reason.
pub(in crate::findings) fn metrics(runs: &[Pair<'_>], window: &Result<Estimate, String>) -> Vec<Named> {
    let data = data(runs);
    let mut metrics = throughput(window, &data);
    metrics.push((QUERY_TIME, query_time(runs)));
    metrics.extend(scans(runs));
    metrics.extend(sizes(&data));
    metrics
}

/// The data of all runs, if they are the same.
fn data(runs: &[Pair<'_>]) -> Result<WarehouseData, String> {
    let mut all = runs.iter().map(|(_, attempt)| warehouse_data(attempt));
    let first = all.next().ok_or("no run was completed")?;
    let same =
        |other: WarehouseData| (&other.scale_factor, &other.generator) == (&first.scale_factor, &first.generator);
    if all.all(same) { Ok(first) } else { Err("its runs had data of different scales or generators".to_owned()) }
}

fn throughput(valid: &Result<Estimate, String>, data: &Result<WarehouseData, String>) -> Vec<Named> {
    let raw = data.clone().and_then(|data| data.raw_bytes.ok_or("the raw bytes were not recorded".to_owned()));
    let unit = QUERIES_PER_HOUR_PER_TB.quantity_unit();
    let per_tb = raw.and_then(|raw| measured(valid, unit, 3600.0 * RawTerabytes::of_bytes(raw).0));
    vec![
        (QUERIES_PER_HOUR, measured(valid, QUERIES_PER_HOUR.quantity_unit(), 3600.0)),
        (QUERIES_PER_HOUR_PER_TB, per_tb),
    ]
}

/// Geometric mean of the mean times of all queries, so that each counts the same however long it takes.
fn query_time(runs: &[Pair<'_>]) -> Measured {
    let of_runs = geometric_means(runs)?;
    let value = of_runs.iter().map(|mean| mean.ln()).sum::<f64>() / of_runs.len() as f64;
    let found = over_runs(&of_runs, QUERY_TIME.quantity_unit(), "a single run has no spread between runs");
    Ok(Quantity::new(value.exp(), QUERY_TIME.quantity_unit(), of_runs.len() as u64, found.interval().clone()))
}

/// The geometric mean of each run, s.
///
/// # Errors
/// A query of a run has no valid time, or no run was completed.
pub(in crate::findings) fn geometric_means(runs: &[Pair<'_>]) -> Result<Vec<f64>, String> {
    let of_run = |(_, attempt): &Pair<'_>| {
        let times = query_times(&query_totals(&[*attempt]))?;
        Ok((times.iter().map(|(_, seconds)| seconds.ln()).sum::<f64>() / times.len() as f64).exp())
    };
    let means: Vec<f64> = runs.iter().map(of_run).collect::<Result<_, String>>()?;
    if means.is_empty() { Err("no run was completed".to_owned()) } else { Ok(means) }
}

/// Kind and mean time of each query, by kind, s.
///
/// # Errors
/// A query has no valid time, or there is none.
pub(in crate::findings) fn query_times(classes: &[Class]) -> Result<Vec<(String, f64)>, String> {
    let time = |query: &QueryTotals| {
        let time = query.mean_s().filter(|seconds| *seconds > 0.0);
        Ok((query.kind.clone(), time.ok_or_else(|| format!("{} has no valid time", query.kind))?))
    };
    let mut times = classes.iter().flat_map(|class| &class.queries).map(time).collect::<Result<Vec<_>, String>>()?;
    times.sort_by(|a, b| a.0.cmp(&b.0));
    if times.is_empty() { Err("no query has ended".to_owned()) } else { Ok(times) }
}

fn scans(runs: &[Pair<'_>]) -> Vec<Named> {
    let (physical, logical, cpu) = (rates::physical(runs), rates::logical(runs), rates::cpu(runs));
    let mb_s = |bytes: &Result<Estimate, String>| measured(bytes, SCAN_PHYSICAL.quantity_unit(), 1e-6);
    let per_cpu = |bytes: &Result<Estimate, String>| -> Measured {
        let cpu = cpu.clone()?;
        if cpu.value <= 0.0 {
            return Err("no CPU time was observed".to_owned());
        }
        Ok(ratio(&bytes.clone()?, &cpu).scaled(1e-6, PHYSICAL_BY_CPU.quantity_unit()))
    };
    vec![
        (SCAN_PHYSICAL, mb_s(&physical)),
        (SCAN_FILE, mb_s(&rates::file_reads(runs))),
        (SCAN_LOGICAL, mb_s(&logical)),
        (IO_THROUGHPUT, both(&physical, &logical, mean_of_both)),
        (HIT_SHARE, both(&physical, &logical, hits)),
        (PHYSICAL_BY_CPU, per_cpu(&physical)),
        (LOGICAL_BY_CPU, per_cpu(&logical)),
        (CPU, measured(&rates::cpu_percent(runs), CPU.quantity_unit(), 1.0)),
        (DATABASE_CPU, measured(&rates::database_cpu_percent(runs), DATABASE_CPU.quantity_unit(), 1.0)),
        (DRIVER_CPU, share(rates::driver_cpu(runs), &cpu)),
        (CPU_TIME, measured(&cpu, CPU_TIME.quantity_unit(), 1.0)),
    ]
}

/// Share of the database's CPU time, %.
fn share(part: Result<Estimate, String>, whole: &Result<Estimate, String>) -> Measured {
    let (part, whole) = (part?, whole.clone()?);
    if whole.value <= 0.0 {
        return Err("no CPU time was observed".to_owned());
    }
    Ok(ratio(&part, &whole).scaled(100.0, DRIVER_CPU.quantity_unit()))
}

fn both(
    physical: &Result<Estimate, String>,
    logical: &Result<Estimate, String>,
    of: fn(&Estimate, &Estimate) -> Measured,
) -> Measured {
    of(&physical.clone()?, &logical.clone()?)
}

fn mean_of_both(physical: &Estimate, logical: &Estimate) -> Measured {
    let mean = io_average(MbPerSecond(physical.value * 1e-6), MbPerSecond(logical.value * 1e-6));
    let why = "a mean of two dependent rates";
    Ok(Quantity::new(mean.0, IO_THROUGHPUT.quantity_unit(), physical.n, Interval::none(why)))
}

fn hits(physical: &Estimate, logical: &Estimate) -> Measured {
    if logical.value <= 0.0 {
        return Err("queries requested no pages".to_owned());
    }
    let share = hit_share(MbPerSecond(physical.value), MbPerSecond(logical.value));
    let why = "a ratio of two dependent rates";
    Ok(Quantity::new(100.0 * share, HIT_SHARE.quantity_unit(), physical.n, Interval::none(why)))
}

fn sizes(data: &Result<WarehouseData, String>) -> Vec<Named> {
    let of = |stored: fn(&WarehouseData) -> Option<u64>| -> Measured {
        let data = data.clone()?;
        let stored = stored(&data).filter(|stored| *stored > 0);
        let missing = "raw bytes and bytes of the tables were not both recorded";
        let ratio = compression(data.raw_bytes.ok_or(missing)?, stored.ok_or(missing)?);
        Ok(Quantity::new(ratio, COMPRESSION.quantity_unit(), 1, Interval::none("a ratio of two sizes")))
    };
    vec![(COMPRESSION, of(|data| data.table_bytes)), (COMPRESSION_WITH_INDEXES, of(WarehouseData::stored_bytes))]
}
