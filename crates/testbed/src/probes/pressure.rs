//! Pressure-stall information of the machine: share of the time in which some or all tasks waited for a resource.

use super::probe::{OpenedProbe, Probe, Subject, read_file};
use super::rates::Rates;
use proofload_model::error::Error;
use proofload_model::samples::Reading;
use proofload_model::series::{SeriesName, pressure};
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
        let mut texts = Vec::new();
        for resource in ["cpu", "io", "memory"] {
            texts.push((resource, read_file(format!("/proc/pressure/{resource}"))?));
        }
        self.rates.turn(span);
        let mut readings = Vec::new();
        for (resource, text) in texts {
            for (series, micros) in text.lines().filter_map(total) {
                let key = format!("{resource} {}", series.name);
                if let Some(rate) = self.rates.per_second(&key, micros) {
                    readings.push(series.reading(resource, (rate / 1e6 * 100.0).min(100.0)));
                }
            }
        }
        Ok(readings)
    }
}

/// `some` or `full`, and its total stall time in microseconds.
fn total(line: &str) -> Option<(SeriesName, f64)> {
    let share = line.split(' ').next()?;
    let series = [pressure::SOME, pressure::FULL].into_iter().find(|series| series.name == share)?;
    let micros = line.rsplit_once("total=")?.1.trim().parse().ok()?;
    Some((series, micros))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_are_read() {
        assert_eq!(total("some avg10=0.00 avg60=0.00 avg300=0.00 total=1234"), Some((pressure::SOME, 1234.0)));
        assert_eq!(total("nonsense"), None);
    }
}
