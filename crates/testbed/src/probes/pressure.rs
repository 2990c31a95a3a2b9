//! Pressure-stall information of the machine: share of the time in which some or all tasks waited for a resource.

use super::probe::{OpenedProbe, Probe, Subject, read_file, reading};
use super::rates::Rates;
use proofload_model::error::Error;
use proofload_model::samples::Reading;
use std::time::Duration;

struct Pressure {
    rates: Rates,
}

pub(super) fn open(_subject: &mut Subject) -> OpenedProbe {
    let there = std::path::Path::new("/proc/pressure/io").exists();
    Ok(there.then(|| Box::new(Pressure { rates: Rates::default() }) as Box<dyn Probe>))
}

impl Probe for Pressure {
    fn read(&mut self, span: Option<Duration>) -> Result<Vec<Reading>, Error> {
        let mut readings = Vec::new();
        for resource in ["cpu", "io", "memory"] {
            let text = read_file(format!("/proc/pressure/{resource}"))?;
            for (share, micros) in text.lines().filter_map(total) {
                let key = format!("{resource} {share}");
                if let Some(rate) = self.rates.per_second(&key, micros, span) {
                    readings.push(reading(share, resource, "%", (rate / 1e6 * 100.0).min(100.0)));
                }
            }
        }
        Ok(readings)
    }
}

/// `some` or `full`, and its total stall time in microseconds.
fn total(line: &str) -> Option<(&str, f64)> {
    let share = line.split(' ').next()?;
    let micros = line.rsplit_once("total=")?.1.trim().parse().ok()?;
    Some((share, micros))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_are_read() {
        assert_eq!(total("some avg10=0.00 avg60=0.00 avg300=0.00 total=1234"), Some(("some", 1234.0)));
        assert_eq!(total("nonsense"), None);
    }
}
