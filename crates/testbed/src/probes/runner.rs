//! Reads every probe on the second, each on a thread of its own so that a slow one delays no other. A missed second stays missed.

use super::PROBES;
use super::probe::{Probe, Subject};
use crate::agents::EventSink;
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
    /// Opens every probe that has something to watch and reads it on whole seconds after `origin`.
    pub fn start(clock: &Arc<dyn Clock>, events: &EventSink, origin: Moment, mut subject: Subject) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let mut threads = Vec::new();
        for spec in PROBES {
            match (spec.open)(&mut subject) {
                Ok(Some(probe)) => {
                    let reader = Reader {
                        name: spec.name,
                        probe,
                        clock: Arc::clone(clock),
                        events: Arc::clone(events),
                        stop: Arc::clone(&stop),
                        warned: false,
                    };
                    threads.push(std::thread::spawn(move || reader.run(origin)));
                }
                Ok(None) => {}
                Err(error) => events(warning(spec.name, &error.to_string())),
            }
        }
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

/// One probe on its thread.
struct Reader {
    name: &'static str,
    probe: Box<dyn Probe>,
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
        match self.probe.read(span) {
            Ok(readings) if readings.is_empty() => {}
            Ok(readings) => {
                let span_ns = span.map_or(0, |span| u64::try_from(span.as_nanos()).unwrap_or(u64::MAX));
                (self.events)(Event::Telemetry(Telemetry { probe: self.name.to_owned(), moment, span_ns, readings }));
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
