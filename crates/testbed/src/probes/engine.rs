//! The server's own statistics, as its engine reads them.

use super::probe::{OpenedProbe, Probe, ProbeScope, ProbeSpec, Subject};
use super::rates::Rates;
use crate::sys::ThreadRoles;
use proofload_engine::Observer;
use proofload_model::error::Error;
use proofload_model::samples::Reading;
use proofload_model::series;
use std::sync::PoisonError;
use std::time::Duration;

struct Engine {
    observer: Box<dyn Observer>,
    rates: Rates,
    thread_roles: ThreadRoles,
}

/// The probe that asks the server and not its host.
pub(super) const OF_SERVER: ProbeSpec = ProbeSpec { name: series::engine::PROBE, of: ProbeScope::Instance, open };

fn open(subject: &mut Subject) -> OpenedProbe {
    let thread_roles = ThreadRoles::clone(&subject.thread_roles);
    let probe = |observer| Box::new(Engine { observer, rates: Rates::default(), thread_roles }) as Box<dyn Probe>;
    Ok(subject.observer.take().map(probe))
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
        let roles = self.observer.thread_roles();
        if !roles.is_empty() {
            *self.thread_roles.lock().unwrap_or_else(PoisonError::into_inner) = roles.iter().cloned().collect();
        }
        Ok(readings)
    }
}
