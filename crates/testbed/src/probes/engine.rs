//! The server's own statistics, as its engine reads them.

use super::probe::{OpenedProbe, Probe, ProbeReadings, ProbeScope, ProbeSpec, Subject};
use super::rates::Rates;
use crate::sys::ThreadRoles;
use proofload_engine::Observer;
use proofload_model::error::Error;
use proofload_model::samples::Reading;
use proofload_model::series::{self, threads};
use std::sync::PoisonError;
use std::time::Duration;

struct Engine {
    observer: Box<dyn Observer>,
    rates: Rates,
    thread_roles: ThreadRoles,
    /// CPU time of roles at the last reading, as the server tells it; nothing where its threads are read on its host.
    of_threads: Vec<Reading>,
    is_elsewhere: bool,
}

/// The probe that asks the server and not its host.
pub(super) const OF_SERVER: ProbeSpec = ProbeSpec { name: series::engine::PROBE, of: ProbeScope::Instance, open };

fn open(subject: &mut Subject) -> OpenedProbe {
    let thread_roles = ThreadRoles::clone(&subject.thread_roles);
    let is_elsewhere = subject.pid.is_none();
    let engine =
        |observer| Engine { observer, rates: Rates::default(), thread_roles, of_threads: Vec::new(), is_elsewhere };
    let probe = |observer| Box::new(engine(observer)) as Box<dyn Probe>;
    Ok(subject.observer.take().map(probe))
}

impl Probe for Engine {
    fn read(&mut self, span: Option<Duration>) -> Result<Vec<Reading>, Error> {
        let observed = self.observer.observe()?;
        self.rates.turn(span);
        let mut readings = Vec::new();
        for mut seen in observed {
            if seen.cumulative {
                let key = format!("{} {}", seen.reading.name, seen.reading.component);
                let Some(rate) = self.rates.per_second(&key, seen.reading.value) else { continue };
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
        self.read_roles();
        Ok(readings)
    }

    fn beside(&mut self) -> Option<ProbeReadings> {
        Some((threads::PROBE, std::mem::take(&mut self.of_threads)))
    }
}

impl Engine {
    /// CPU time of each role, % of one core, under the names of the probe of threads.
    fn read_roles(&mut self) {
        self.of_threads.clear();
        let mut total = None;
        for of_role in self.observer.role_times().iter().filter(|_| self.is_elsewhere) {
            let key = format!("role {}", of_role.role);
            let Some(cores) = self.rates.per_second(&key, of_role.time.as_secs_f64()) else { continue };
            *total.get_or_insert(0.0) += cores * 100.0;
            self.of_threads.push(threads::ROLE.reading(of_role.role.as_str(), cores * 100.0));
            self.of_threads.push(threads::ROLE_THREADS.reading(of_role.role.as_str(), f64::from(of_role.threads)));
        }
        self.of_threads.extend(total.map(|total| threads::CPU_SUM.reading("", total)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofload_engine::{Error as EngineError, Observation, RoleCpu};

    /// A server that tells of one role, whose threads take half a core.
    struct Scripted(Vec<RoleCpu>);

    impl Observer for Scripted {
        fn observe(&mut self) -> Result<Vec<Observation>, EngineError> {
            self.0[0].time += Duration::from_millis(500);
            Ok(Vec::new())
        }

        fn role_times(&self) -> &[RoleCpu] {
            &self.0
        }
    }

    /// Roles that a server tells of are read as threads, unless somebody looks at the threads themselves.
    #[test]
    fn roles_that_a_server_tells_are_those_of_the_probe_of_threads() {
        for (pid, expected) in [(None, 3), (Some(std::process::id()), 0)] {
            let told = RoleCpu { role: "log writer".to_owned(), time: Duration::ZERO, threads: 2 };
            let observer: Box<dyn Observer> = Box::new(Scripted(vec![told]));
            let mut subject = Subject { observer: Some(observer), pid, ..Subject::default() };
            let mut probe = open(&mut subject).unwrap().unwrap();
            probe.read(None).unwrap();
            assert!(probe.beside().unwrap().1.is_empty(), "the first reading is the base");
            probe.read(Some(Duration::from_secs(1))).unwrap();
            let (name, found) = probe.beside().unwrap();
            assert_eq!((name, found.len()), ("threads", expected), "{found:?}");
            assert!(found.iter().all(|one| one.name == "role_threads" || one.value == 50.0), "{found:?}");
        }
    }
}
