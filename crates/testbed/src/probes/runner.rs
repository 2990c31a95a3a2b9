//! Reads every probe on the second, each on a thread of its own so that a slow one delays no other. A missed second stays missed.

use super::engine::OF_SERVER;
use super::probe::{Part, Probe, ProbeSpec, Subject};
use super::{PROBES, scrape};
use crate::agents::EventSink;
use proofload_model::error::Error;
use proofload_model::samples::Telemetry;
use proofload_model::time::{Clock, Moment};
use proofload_model::wire::Event;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// One reading a second.
const PERIOD: Duration = Duration::from_secs(1);

/// How often a waiting thread looks whether it should end.
const GLANCE: Duration = Duration::from_millis(100);

/// Running probes; dropping them stops them.
pub struct Probes {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Probes {
    /// Opens every probe that has something to watch and reads it on whole seconds after `origin`. A host that exporters observe is
    /// watched through them alone.
    pub fn start(clock: &Arc<dyn Clock>, events: &EventSink, origin: Moment, mut subject: Subject) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let endpoints = scrape::open(&subject.scraped);
        let of_host = if endpoints.is_empty() { PROBES } else { &[] };
        let mut sources: Vec<Opened> = Vec::new();
        for spec in of_host.iter().chain([&OF_SERVER]) {
            match open(spec, &mut subject) {
                Ok(source) => sources.extend(source),
                Err(error) => events(warning(spec.name, &error.to_string())),
            }
        }
        sources.extend(endpoints.into_iter().map(|endpoint| ("scrape", Box::new(endpoint) as Box<dyn Source>)));
        let reader = |(name, source)| Reader {
            name,
            source,
            clock: Arc::clone(clock),
            events: Arc::clone(events),
            stop: Arc::clone(&stop),
            warned: false,
        };
        let readers = sources.into_iter().map(reader);
        let threads = readers.map(|reader| std::thread::spawn(move || reader.run(origin))).collect();
        Self { stop, threads }
    }
}

impl Drop for Probes {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ended = thread.join();
        }
    }
}

/// What a thread reads.
pub(super) trait Source: Send {
    /// One reading, under the names of the probes that its parts belong to. `span` as for [`Probe::read`].
    fn parts(&mut self, span: Option<Duration>) -> Result<Vec<Part>, Error>;
}

/// A probe under its own name.
struct Named {
    name: &'static str,
    probe: Box<dyn Probe>,
}

impl Source for Named {
    fn parts(&mut self, span: Option<Duration>) -> Result<Vec<Part>, Error> {
        Ok(vec![(self.name, self.probe.read(span)?)])
    }
}

/// A source, and the name by which its warnings speak.
type Opened = (&'static str, Box<dyn Source>);

/// Opens a probe; none when it has nothing to watch.
fn open(spec: &ProbeSpec, subject: &mut Subject) -> Result<Option<Opened>, Error> {
    let name = spec.name;
    let opened = (spec.open)(subject)?;
    Ok(opened.map(|probe| (name, Box::new(Named { name, probe }) as Box<dyn Source>)))
}

/// One source on its thread.
struct Reader {
    name: &'static str,
    source: Box<dyn Source>,
    clock: Arc<dyn Clock>,
    events: EventSink,
    stop: Arc<AtomicBool>,
    warned: bool,
}

impl Reader {
    fn run(mut self, origin: Moment) {
        let mut due = origin;
        let mut before: Option<Moment> = None;
        while self.wait_until(due) {
            let moment = self.clock.now();
            self.read(moment, before);
            before = Some(moment);
            due = next_due(due, self.clock.now());
        }
    }

    /// False when the probes are to stop.
    fn wait_until(&self, due: Moment) -> bool {
        loop {
            if self.stop.load(Ordering::Relaxed) {
                return false;
            }
            let left = due.since(self.clock.now());
            if left.is_zero() {
                return true;
            }
            self.clock.sleep(left.min(GLANCE));
        }
    }

    fn read(&mut self, moment: Moment, before: Option<Moment>) {
        let span = before.map(|before| moment.since(before));
        let span_ns = span.map_or(0, |span| u64::try_from(span.as_nanos()).unwrap_or(u64::MAX));
        match self.source.parts(span) {
            Ok(parts) => {
                for (probe, readings) in parts.into_iter().filter(|(_, readings)| !readings.is_empty()) {
                    (self.events)(Event::Telemetry(Telemetry { probe: probe.to_owned(), moment, span_ns, readings }));
                }
            }
            Err(error) if !self.warned => {
                self.warned = true;
                (self.events)(warning(self.name, &error.to_string()));
            }
            Err(_) => {}
        }
    }
}

/// The next whole second that has not passed.
fn next_due(due: Moment, now: Moment) -> Moment {
    let behind = now.since(due).as_secs();
    due + PERIOD * u32::try_from(behind + 1).unwrap_or(u32::MAX)
}

fn warning(name: &str, text: &str) -> Event {
    Event::Log { level: "warning".to_owned(), text: format!("probe {name}: {text}; its series have a gap from here") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missed_seconds_are_skipped_not_made_up() {
        let second = 1_000_000_000;
        assert_eq!(next_due(Moment(5 * second), Moment(5 * second + 3)), Moment(6 * second));
        assert_eq!(next_due(Moment(5 * second), Moment(8 * second + 3)), Moment(9 * second));
    }
}
