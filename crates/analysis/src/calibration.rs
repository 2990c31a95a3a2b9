//! Calibration: from what probe queries used to facts.
//!
//! MB are 10^6 bytes. Consumption is MB per CPU second, so that it survives a busy host: MCR in cache, BCR cold. The MB are those that
//! the engine says were asked for; where it does not count them, what the device read in the cold pass, which is an estimate.

use crate::distribution::mean;
use proofload_model::facts::{FactName, calibration, list};
use proofload_model::samples::Fact;
use proofload_model::units::{Bytes, BytesPerSecond};
use proofload_model::wire::{ProbeResult, ResourceUse};
use std::time::Duration;

/// Share of a pass that the device may still deliver when it is taken for one in cache.
const STILL_IN_CACHE: f64 = 0.05;

/// What one query used.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pass {
    /// Wall time.
    pub took: Duration,
    /// CPU time of the database.
    pub cpu: Option<Duration>,
    /// Read from the device.
    pub device: Option<Bytes>,
    /// Asked for, in the engine's cache or not.
    pub logical: Option<Bytes>,
    /// Where CPU time and reads were counted.
    pub sources: String,
}

impl Pass {
    /// The cost of a query from readings before and after it. Readings of two different counters have no difference.
    pub fn between(before: &ResourceUse, probed: &ProbeResult, after: &ResourceUse) -> Self {
        let same_cpu = before.cpu_source == after.cpu_source;
        let same_device = before.device_source == after.device_source;
        Self {
            took: probed.took,
            cpu: after.cpu.zip(before.cpu).filter(|_| same_cpu).map(|(after, before)| after.saturating_sub(before)),
            device: (after.device_read.zip(before.device_read).filter(|_| same_device))
                .map(|(after, before)| Bytes(after.0.saturating_sub(before.0))),
            logical: probed.logical,
            sources: format!("CPU time by {}; reads by {}", after.cpu_source, after.device_source),
        }
    }

    fn cpu_s(&self) -> Option<f64> {
        self.cpu.map(|cpu| cpu.as_secs_f64()).filter(|cpu| *cpu > 0.0)
    }
}

/// 10^6 bytes.
fn mb(bytes: Bytes) -> f64 {
    bytes.0 as f64 / 1e6
}

/// Facts of sequential reads.
pub fn device_facts(rate: BytesPerSecond, how: &str) -> Vec<Fact> {
    vec![number(&calibration::DEVICE_READ, rate.0 as f64 / 1e6, how)]
}

/// Facts of a scan: its cold pass, and those in cache after the first of them was discarded.
///
/// # Errors
/// Neither the engine nor the device said what was read, or nobody said what CPU time it took.
pub fn scan_facts(query: &str, cold: &Pass, warm: &[Pass]) -> Result<Vec<Fact>, String> {
    let logical: Option<Vec<f64>> = std::iter::once(cold).chain(warm).map(|pass| pass.logical.map(mb)).collect();
    let footprint = cold.device.map(mb);
    let (of_cold, of_warm, counted) = match (logical, footprint) {
        (Some(all), _) => (all[0], all[1..].to_vec(), "pages requested, by the engine's counters"),
        (None, Some(read)) if read > 0.0 => (
            read,
            vec![read; warm.len()],
            "an estimate from the device's reads in the cold pass, because the engine does not count reads",
        ),
        (None, _) => return Err(format!("neither the engine nor the device counted the cold reads of {query}")),
    };
    let no_cpu = || format!("no CPU time was recorded for {query}");
    let cold_cpu = cold.cpu_s().ok_or_else(no_cpu)?;
    let rates = warm.iter().zip(&of_warm).map(|(pass, scanned)| Some(scanned / pass.cpu_s()?));
    let rates: Vec<f64> =
        rates.collect::<Option<_>>().filter(|rates: &Vec<f64>| !rates.is_empty()).ok_or_else(no_cpu)?;
    let source = |how: &str| format!("{query}, {how}; MB: {counted}; {}", cold.sources);
    let passes = rates.iter().map(|rate| format!("{rate:.2}"));
    let in_cache = format!("{} warm passes after one discarded{}", warm.len(), missed(warm, &of_warm));
    let warm_s = mean(&warm.iter().map(|pass| pass.took.as_secs_f64()).collect::<Vec<_>>());
    let times = format!("{:.3} cold, {warm_s:.3} in cache", cold.took.as_secs_f64());
    let mut facts = vec![
        number(
            &calibration::COLD,
            of_cold / cold_cpu,
            &source("one cold pass: instance just started, page cache dropped"),
        ),
        number(&calibration::IN_CACHE, mean(&rates), &source(&in_cache)),
        calibration::IN_CACHE_PASSES.observed(list(passes), query),
        number(&calibration::SCANNED, of_cold, counted),
        calibration::SCAN_TIMES.observed(times, query),
    ];
    facts.extend(
        footprint
            .map(|read| number(&calibration::FOOTPRINT, read, &source("bytes that the device read in the cold pass"))),
    );
    Ok(facts)
}

/// Words for warm passes of which the device still delivered a part.
fn missed(warm: &[Pass], scanned: &[f64]) -> String {
    let most =
        warm.iter().zip(scanned).filter_map(|(pass, scanned)| Some(mb(pass.device?) / scanned)).fold(0.0, f64::max);
    if most > STILL_IN_CACHE {
        format!(" (not all in cache: the device still delivered {:.0} % of a pass)", 100.0 * most)
    } else {
        String::new()
    }
}

/// Facts of a query that was run once; `failed`: it did not end well.
pub fn query_facts(query: &str, pass: &Pass, failed: Option<&str>) -> Vec<Fact> {
    if let Some(why) = failed {
        return vec![calibration::QUERY_FAILED.of(query).observed(why, "one run")];
    }
    let measured = [
        (calibration::QUERY_CPU, pass.cpu.map(|cpu| cpu.as_secs_f64())),
        (calibration::QUERY_DEVICE, pass.device.map(mb)),
        (calibration::QUERY_TIME, Some(pass.took.as_secs_f64())),
    ];
    measured.into_iter().filter_map(|(name, value)| Some(number(&name.of(query), value?, &pass.sources))).collect()
}

/// Facts of what could not be found out, with the reason where the source stands.
pub fn missing_facts(names: &[FactName], why: &str) -> Vec<Fact> {
    names.iter().map(|name| name.unknown(format!("not calibrated: {why}"))).collect()
}

/// A measured number, to four digits behind the point.
fn number(name: &FactName, value: f64, source: &str) -> Fact {
    name.observed(format!("{value:.4}"), source)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pass(cpu_ms: u64, device_mb: Option<u64>, logical_mb: Option<u64>) -> Pass {
        let bytes = |mb: u64| Bytes(mb * 1_000_000);
        Pass {
            took: Duration::from_secs(2),
            cpu: Some(Duration::from_millis(cpu_ms)),
            device: device_mb.map(bytes),
            logical: logical_mb.map(bytes),
            sources: "a test".to_owned(),
        }
    }

    #[track_caller]
    fn check(facts: &[Fact], name: &FactName, value: &str) {
        assert_eq!(name.text(facts), Some(value), "{name:?}");
    }

    #[test]
    fn rates_are_by_cpu_time_and_by_the_engines_own_counts() {
        let warm = [pass(400, Some(0), Some(800)), pass(500, Some(0), Some(800)), pass(800, Some(0), Some(800))];
        let facts = scan_facts("probe", &pass(1_000, Some(790), Some(800)), &warm).unwrap();
        check(&facts, &calibration::COLD, "800.0000");
        // 2,000, 1,600 and 1,000 MB per CPU second.
        check(&facts, &calibration::IN_CACHE, "1533.3333");
        check(&facts, &calibration::IN_CACHE_PASSES, "2000.00, 1600.00, 1000.00");
        check(&facts, &calibration::FOOTPRINT, "790.0000");
        check(&facts, &calibration::SCAN_TIMES, "2.000 cold, 2.000 in cache");
        assert!(
            facts[1].source.starts_with("probe, 3 warm passes after one discarded; MB: pages requested"),
            "{:?}",
            facts[1]
        );
    }

    #[test]
    fn without_counts_of_the_engine_the_footprint_is_an_estimate() {
        let warm = [pass(250, Some(30), None)];
        let facts = scan_facts("probe", &pass(500, Some(100), None), &warm).unwrap();
        check(&facts, &calibration::COLD, "200.0000");
        check(&facts, &calibration::IN_CACHE, "400.0000");
        assert!(facts[0].source.contains("an estimate"), "{:?}", facts[0]);
        assert!(facts[1].source.contains("not all in cache: the device still delivered 30 %"), "{:?}", facts[1]);
        let error = scan_facts("probe", &pass(500, None, None), &warm).unwrap_err();
        assert!(error.contains("neither the engine nor the device counted"), "{error}");
        let idle = Pass { cpu: None, ..pass(1, Some(1), None) };
        assert!(scan_facts("probe", &idle, &warm).unwrap_err().contains("no CPU time"));
        assert!(scan_facts("probe", &pass(1, Some(1), None), &[]).is_err());
    }

    #[test]
    fn counters_of_two_sources_have_no_difference() {
        let used = |cpu: u64, source: &str, read: u64| ResourceUse {
            cpu: Some(Duration::from_secs(cpu)),
            cpu_source: source.to_owned(),
            device_read: Some(Bytes(read)),
            device_source: "device".to_owned(),
        };
        let probed = ProbeResult { took: Duration::from_secs(9), logical: None, failed: None };
        let found = Pass::between(&used(1, "group", 5), &probed, &used(4, "group", 12));
        assert_eq!((found.cpu, found.device, found.took.as_secs()), (Some(Duration::from_secs(3)), Some(Bytes(7)), 9));
        assert_eq!(Pass::between(&used(1, "group", 5), &probed, &used(4, "process", 12)).cpu, None);
    }

    #[test]
    fn a_query_that_failed_costs_nothing_that_could_be_told() {
        let facts = query_facts("q09", &pass(1_500, Some(20), None), None);
        check(&facts, &calibration::QUERY_CPU.of("q09"), "1.5000");
        check(&facts, &calibration::QUERY_DEVICE.of("q09"), "20.0000");
        check(&facts, &calibration::QUERY_TIME.of("q09"), "2.0000");
        let facts = query_facts("q09", &pass(1_500, Some(20), None), Some("query_cap: too long"));
        check(&facts, &calibration::QUERY_FAILED.of("q09"), "query_cap: too long");
        assert_eq!(facts.len(), 1);
        let facts = missing_facts(&[calibration::DEVICE_READ], "fio is not installed");
        assert_eq!(
            (facts[0].effective.as_deref(), facts[0].source.as_str()),
            (None, "not calibrated: fio is not installed")
        );
    }
}
