//! A fixture: a probe of one file and one line. A test says on its own thread what there is to watch.

use super::probe::{OpenedProbe, Probe, Subject, reading};
use proofload_model::error::Error;
use proofload_model::samples::Reading;
use std::cell::Cell;
use std::time::Duration;

/// The fixture.
struct Toy(f64);

thread_local! {
    static WATCHED: Cell<Option<f64>> = const { Cell::new(None) };
}

/// Opens it where there is something to watch.
pub(super) fn open(_subject: &mut Subject) -> OpenedProbe {
    Ok(WATCHED.get().map(|value| Box::new(Toy(value)) as Box<dyn Probe>))
}

impl Probe for Toy {
    fn read(&mut self, _span: Option<Duration>) -> Result<Vec<Reading>, Error> {
        Ok(vec![reading("toy_watched", "", "", self.0)])
    }
}

#[cfg(test)]
mod tests {
    use super::super::Probes;
    use super::*;
    use crate::agents::EventSink;
    use crate::test_clock::SimulatedClock;
    use proofload_model::time::{Clock, Moment};
    use proofload_model::wire::Event;
    use std::sync::Arc;
    use std::time::Instant;

    /// The runner opens the table and reads it; nothing but the table names the fixture.
    #[test]
    fn a_probe_of_a_file_and_a_line_is_read_on_the_second() {
        WATCHED.set(Some(42.0));
        let (sender, told) = std::sync::mpsc::channel();
        let events: EventSink = Arc::new(move |event| drop(sender.send(event)));
        let clock: Arc<dyn Clock> = Arc::new(SimulatedClock::default());
        let probes = Probes::start(&clock, &events, Moment(0), Subject::default());
        let begun = Instant::now();
        // The other probes tell something all the time.
        let in_time = told.iter().take_while(|_| begun.elapsed() < Duration::from_secs(60));
        let of_toy = in_time.filter_map(|event| match event {
            Event::Telemetry(telemetry) if telemetry.readings.iter().any(|reading| reading.name == "toy_watched") => {
                Some((telemetry.probe.clone(), telemetry.readings[0].value, telemetry.moment.0 / 1_000_000_000))
            }
            _ => None,
        });
        let found: Vec<(String, f64, u64)> = of_toy.take(2).collect();
        drop(probes);
        // The clock is shared by the threads of all probes, so that a reading comes within its second.
        let [(probe, value, first), (_, _, second)] = &found[..] else { panic!("{found:?}") };
        assert_eq!((probe.as_str(), *value), ("toy", 42.0));
        assert!(first < second, "{found:?}");
    }
}
