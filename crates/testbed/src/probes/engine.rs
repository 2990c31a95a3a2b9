//! The server's own statistics, as its engine reads them.

use super::probe::{OpenedProbe, Probe, ProbeScope, ProbeSpec, Subject};
use super::rates::Rates;
use proofload_engine::Observer;
use proofload_model::error::Error;
use proofload_model::samples::Reading;
use proofload_model::series;
use std::time::Duration;

struct Engine {
    observer: Box<dyn Observer>,
    rates: Rates,
}

/// The probe that asks the server and not its host.
pub(super) const OF_SERVER: ProbeSpec = ProbeSpec { name: series::engine::PROBE, of: ProbeScope::Instance, open };

fn open(subject: &mut Subject) -> OpenedProbe {
    Ok(subject.observer.take().map(|observer| Box::new(Engine { observer, rates: Rates::default() }) as Box<dyn Probe>))
}

impl Probe for Engine {
    fn read(&mut self, span: Option<Duration>) -> Result<Vec<Reading>, Error> {
        let mut readings = Vec::new();
        for mut seen in self.observer.observe()? {
            if seen.cumulative {
                let key = format!("{} {}", seen.reading.name, seen.reading.component);
                let Some(rate) = self.rates.per_second(&key, seen.reading.value, span) else { continue };
                seen.reading.value = rate;
            }
            if span.is_some() {
                readings.push(seen.reading);
            }
        }
        Ok(readings)
    }
}
