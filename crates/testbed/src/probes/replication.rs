//! Replication as the primary sees it: whether the mode is in force, and how much log each standby is behind.

use super::probe::{OpenedProbe, Probe, Subject};
use super::rates::Rates;
use proofload_engine::ReplicationWatch;
use proofload_model::error::Error;
use proofload_model::samples::Reading;
use proofload_model::series::replication;
use std::time::Duration;

struct Replication {
    watch: Box<dyn ReplicationWatch>,
    rates: Rates,
}

pub(super) fn open(subject: &mut Subject) -> OpenedProbe {
    let watch = subject.replication.take();
    Ok(watch.map(|watch| Box::new(Replication { watch, rates: Rates::default() }) as Box<dyn Probe>))
}

impl Probe for Replication {
    fn read(&mut self, span: Option<Duration>) -> Result<Vec<Reading>, Error> {
        let seen = self.watch.read()?;
        self.rates.turn(span);
        let why = seen.out_of_force.unwrap_or_default();
        let mut readings = vec![replication::OUT_OF_FORCE.reading(why.as_str(), f64::from(u8::from(!why.is_empty())))];
        readings.push(replication::UNPROTECTED.reading("", f64::from(u8::from(seen.unprotected))));
        let log = seen.log_end.and_then(|end| self.rates.per_second("log", end.0 as f64));
        readings.extend(log.map(|log| replication::LOG.reading("", log)));
        for standby in seen.standbys {
            let behind = [
                (replication::UNSENT, standby.unsent),
                (replication::UNWRITTEN, standby.unwritten),
                (replication::UNFLUSHED, standby.unflushed),
                (replication::UNAPPLIED, standby.unapplied),
            ];
            readings.extend(behind.map(|(series, bytes)| series.reading(standby.name.as_str(), bytes.0 as f64)));
            let lag = standby.lag.map(|lag| replication::LAG.reading(standby.name.as_str(), lag.as_secs_f64()));
            readings.extend(lag);
        }
        Ok(readings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofload_engine::Error as EngineError;
    use proofload_model::deployment::InstanceName;
    use proofload_model::replication::{ReplicationReading, StandbyReading};
    use proofload_model::units::Bytes;

    /// A primary that writes 1,000 bytes of log between readings, and loses its standby after the first.
    struct Scripted(u64);

    impl ReplicationWatch for Scripted {
        fn read(&mut self) -> Result<ReplicationReading, EngineError> {
            self.0 += 1;
            let here = StandbyReading {
                name: InstanceName::standby(1),
                unsent: Bytes(0),
                unwritten: Bytes(1),
                unflushed: Bytes(2),
                unapplied: Bytes(3),
                lag: Some(Duration::from_millis(1_500)),
            };
            let lost = self.0 > 1;
            Ok(ReplicationReading {
                out_of_force: lost.then(|| "standby-1 is not streaming".to_owned()),
                unprotected: lost,
                standbys: if lost { Vec::new() } else { vec![here] },
                log_end: Some(Bytes(self.0 * 1000)),
            })
        }

        fn begin_commit(&mut self, _within: Duration) -> Result<bool, EngineError> {
            Ok(true)
        }

        fn end_commit(&mut self, _within: Duration) -> Result<bool, EngineError> {
            Ok(true)
        }
    }

    #[test]
    fn what_is_behind_and_what_is_out_of_force_become_readings() {
        let mut subject = Subject { replication: Some(Box::new(Scripted(0))), ..Subject::default() };
        let mut probe = open(&mut subject).unwrap().unwrap();
        let told = |readings: Vec<Reading>| -> Vec<(String, String, f64)> {
            readings.into_iter().map(|reading| (reading.name, reading.component, reading.value)).collect()
        };
        let row = |name: &str, component: &str, value| (name.to_owned(), component.to_owned(), value);
        let first = told(probe.read(None).unwrap());
        assert_eq!(first[0], row("out_of_force", "", 0.0));
        assert_eq!([&first[1], &first[5]], [&row("unprotected", "", 0.0), &row("unapplied", "standby-1", 3.0)]);
        assert_eq!(first[6..], [row("lag", "standby-1", 1.5)]);
        let second = told(probe.read(Some(Duration::from_millis(500))).unwrap());
        assert_eq!(
            second,
            [
                row("out_of_force", "standby-1 is not streaming", 1.0),
                row("unprotected", "", 1.0),
                row("log", "", 2000.0)
            ]
        );
    }
}
