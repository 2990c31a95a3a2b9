//! What a calibration found out before a run, as its facts say: the machine at its most, and what queries cost. May not guess what is
//! not there.

use super::super::level::Measured;
use proofload_analysis::distribution::{mean, student_quantile, variance};
use proofload_analysis::quantity::{Interval, Quantity, Unit};
use proofload_model::facts::calibration::{
    COLD, DEVICE_READ, FOOTPRINT, IN_CACHE, IN_CACHE_PASSES, QUERY_CPU, QUERY_DEVICE, SCANNED,
};
use proofload_model::facts::{FactName, in_list};
use proofload_model::samples::Fact;
use proofload_record::{Attempt, Record};

/// What the machine was found to do.
#[derive(Debug, Clone, PartialEq)]
pub struct CalibrationFindings {
    /// Sequential reads of the device, MB/s.
    pub device: Measured,
    /// Consumption in cache, MB per CPU second.
    pub in_cache: Measured,
    /// Consumption cold, MB per CPU second.
    pub cold: Measured,
    /// What a pass of the scan consumes, MB.
    pub scanned: Measured,
    /// What the device read in the cold pass, MB.
    pub footprint: Measured,
    /// How each was found out, without repetition.
    pub sources: Vec<String>,
}

/// What one query cost, once.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Cost {
    /// CPU time of the database, s.
    pub cpu_s: Option<f64>,
    /// Read from the device, 10^6 bytes.
    pub device_mb: Option<f64>,
}

/// Reads a run's calibration; of records without any in the run, that of the study.
pub fn calibrated(record: &Record, attempt: &Attempt) -> CalibrationFindings {
    let one = |name: &FactName, unit: &'static str, why: &'static str| -> Measured {
        let value = number(record, attempt, name)?;
        Ok(Quantity::new(value, Unit::named(unit), 1, Interval::none(why)))
    };
    let mut sources: Vec<String> = Vec::new();
    for name in [&DEVICE_READ, &COLD, &IN_CACHE, &FOOTPRINT] {
        let source =
            found(record, attempt, name).filter(|fact| fact.effective.is_some()).map(|fact| fact.source.clone());
        sources.extend(source.filter(|source| !sources.contains(source)));
    }
    CalibrationFindings {
        device: one(&DEVICE_READ, "MB/s", "a single measurement of a few seconds"),
        in_cache: in_cache(record, attempt),
        cold: one(&COLD, "MB per CPU s", "a single pass: a second one would not be cold"),
        scanned: one(&SCANNED, "MB", "counted"),
        footprint: one(&FOOTPRINT, "MB", "counted"),
        sources,
    }
}

/// What a query cost in the calibration before a run; `None` where that was not asked for or the query failed.
pub fn cost(attempt: &Attempt, query: &str) -> Option<Cost> {
    let value = |name: FactName| name.number(&attempt.facts);
    let cost = Cost { cpu_s: value(QUERY_CPU.of(query)), device_mb: value(QUERY_DEVICE.of(query)) };
    (cost != Cost::default()).then_some(cost)
}

/// The mean over passes, with Student's interval.
fn in_cache(record: &Record, attempt: &Attempt) -> Measured {
    let value = number(record, attempt, &IN_CACHE)?;
    let passes = found(record, attempt, &IN_CACHE_PASSES).and_then(|fact| fact.effective.as_deref());
    let passes = in_list(passes.unwrap_or_default());
    let n = passes.len();
    let interval = if n < 2 {
        Interval::none("passes were not recorded one by one")
    } else {
        let half = student_quantile(0.975, n as f64 - 1.0) * (variance(&passes) / n as f64).sqrt();
        Interval::known(mean(&passes) - half, mean(&passes) + half, "Student's t over passes")
    };
    Ok(Quantity::new(value, Unit::named("MB per CPU s"), n.max(1) as u64, interval))
}

/// A positive number, or why there is none.
pub(super) fn number(record: &Record, attempt: &Attempt, name: &FactName) -> Result<f64, String> {
    let fact = found(record, attempt, name).ok_or("not calibrated")?;
    let text = fact.effective.as_deref().ok_or_else(|| fact.source.clone())?;
    let value = fact.number.filter(|value| *value > 0.0 && value.is_finite());
    value.ok_or_else(|| format!("not calibrated: {text:?} is not a rate"))
}

/// The last fact of this name, of the run or else of the study.
pub(super) fn found<'r>(record: &'r Record, attempt: &'r Attempt, name: &FactName) -> Option<&'r Fact> {
    name.last(&attempt.facts).or_else(|| name.last(&record.facts))
}
