//! Reads every probe on the second, each on a thread of its own so that a slow one delays no other. A missed second stays missed.

use super::engine::OF_SERVER;
use super::probe::{Probe, ProbeReadings, ProbeScope, ProbeSpec, Subject};
use super::{PROBES, scrape};
use crate::agents::EventSink;
use proofload_model::deployment::InstanceName;
use proofload_model::error::Error;
use proofload_model::log_level::LogLevel;
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
        let watched_already = |spec: &&ProbeSpec| subject.host_is_watched && spec.of == ProbeScope::Host;
        let wanted: Vec<&ProbeSpec> =
            of_host.iter().filter(|spec| !watched_already(spec)).chain([&OF_SERVER]).collect();
        for spec in wanted {
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
    fn parts(&mut self, span: Option<Duration>) -> Result<Vec<ProbeReadings>, Error>;
}

/// A probe under its own name.
struct NamedProbe {
    name: &'static str,
    probe: Box<dyn Probe>,
}

impl Source for NamedProbe {
    fn parts(&mut self, span: Option<Duration>) -> Result<Vec<ProbeReadings>, Error> {
        let own = (self.name, self.probe.read(span)?);
        Ok([Some(own), self.probe.beside()].into_iter().flatten().collect())
    }
}

/// A source, and the name by which its warnings speak.
type Opened = (&'static str, Box<dyn Source>);

/// Opens a probe; `None` when it has nothing to watch.
fn open(spec: &ProbeSpec, subject: &mut Subject) -> Result<Option<Opened>, Error> {
    let name = spec.name;
    let opened = (spec.open)(subject)?;
    Ok(opened.map(|probe| (name, Box::new(NamedProbe { name, probe }) as Box<dyn Source>)))
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
            // What is counted after a failed reading has come since the last one that did not fail.
            if self.read(moment, before) {
                before = Some(moment);
            }
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

    /// Tells what is read; false when it cannot be.
    fn read(&mut self, moment: Moment, before: Option<Moment>) -> bool {
        let span = before.map(|before| moment.since(before));
        let span_ns = span.map_or(0, |span| u64::try_from(span.as_nanos()).unwrap_or(u64::MAX));
        match self.source.parts(span) {
            Ok(parts) => {
                for (probe, readings) in parts.into_iter().filter(|(_, readings)| !readings.is_empty()) {
                    (self.events)(Event::Telemetry(Telemetry {
                        instance: InstanceName::default(),
                        probe: probe.to_owned(),
                        moment,
                        span_ns,
                        readings,
                    }));
                }
            }
            Err(error) => {
                if !std::mem::replace(&mut self.warned, true) {
                    (self.events)(warning(self.name, &error.to_string()));
                }
                return false;
            }
        }
        true
    }
}

/// The next whole second that has not passed.
fn next_due(due: Moment, now: Moment) -> Moment {
    let behind = now.since(due).as_secs();
    due + PERIOD * u32::try_from(behind + 1).unwrap_or(u32::MAX)
}

fn warning(name: &str, text: &str) -> Event {
    Event::Log { level: LogLevel::Warning, text: format!("probe {name}: {text}; its series have a gap from here on") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofload_model::samples::Reading;
    use proofload_model::time::WallTime;
    use std::sync::atomic::AtomicU64;

    /// A clock that moves when someone sleeps, and stops the probes after some seconds.
    struct Simulated {
        nanos: AtomicU64,
        stop: Arc<AtomicBool>,
    }

    impl Clock for Simulated {
        fn now(&self) -> Moment {
            Moment(self.nanos.load(Ordering::Relaxed))
        }

        fn wall(&self) -> WallTime {
            WallTime(0)
        }

        fn sleep(&self, time: Duration) {
            let nanos = u64::try_from(time.as_nanos()).expect("short");
            let now = self.nanos.fetch_add(nanos, Ordering::Relaxed) + nanos;
            self.stop.store(now > 7_500_000_000, Ordering::Relaxed);
        }
    }

    /// Nobody answers in the third and the fourth second.
    struct Away(u32);

    impl Source for Away {
        fn parts(&mut self, span: Option<Duration>) -> Result<Vec<ProbeReadings>, Error> {
            self.0 += 1;
            if matches!(self.0, 4 | 5) {
                return Err(Error::new("connection refused"));
            }
            let value = span.map_or(0.0, |span| span.as_secs_f64());
            let reading = Reading { name: "seconds".to_owned(), component: String::new(), unit: "s".to_owned(), value };
            Ok(vec![("engine", vec![reading])])
        }
    }

    #[test]
    fn after_a_gap_a_reading_covers_all_of_it() {
        let stop = Arc::new(AtomicBool::new(false));
        let clock = Arc::new(Simulated { nanos: AtomicU64::new(0), stop: Arc::clone(&stop) });
        let (sender, told) = std::sync::mpsc::channel();
        let events: EventSink = Arc::new(move |event| sender.send(event).expect("the test listens"));
        Reader { name: "engine", source: Box::new(Away(0)), clock, events, stop, warned: false }.run(Moment(0));
        let (mut spans, mut warnings) = (Vec::new(), Vec::new());
        for event in told.try_iter() {
            match event {
                Event::Telemetry(reading) => spans.push((reading.moment.0, reading.span_ns, reading.readings[0].value)),
                Event::Log { text, .. } => warnings.push(text),
                other => panic!("{other:?}"),
            }
        }
        let second = 1_000_000_000;
        let expected = [(0, 0), (1, 1), (2, 1), (5, 3), (6, 1), (7, 1)]
            .map(|(at, span)| (at * second, span * second, span as f64));
        assert_eq!(spans, expected);
        assert_eq!(warnings, ["probe engine: connection refused; its series have a gap from here on"]);
    }

    #[test]
    fn missed_seconds_are_skipped_not_made_up() {
        let second = 1_000_000_000;
        assert_eq!(next_due(Moment(5 * second), Moment(5 * second + 3)), Moment(6 * second));
        assert_eq!(next_due(Moment(5 * second), Moment(8 * second + 3)), Moment(9 * second));
    }
}
