//! The relay of an instance's link: how late bytes left it in each direction, and the CPU time of its threads. A link without a relay has no
//! reading.

use super::probe::{OpenedProbe, Probe, Subject};
use super::rates::Rates;
use crate::relay::{LatenessCounts, RelayMeter, Way};
use proofload_model::error::Error;
use proofload_model::samples::Reading;
use proofload_model::series::relay;
use std::collections::BTreeMap;
use std::time::Duration;

/// Words for directions in the record.
const TO_PRIMARY: &str = "to_primary";
const TO_STANDBY: &str = "to_standby";
const TO_USERS: &str = "to_users";

struct RelayProbe {
    meter: RelayMeter,
    /// Word for the way from the primary.
    back: &'static str,
    rates: Rates,
    /// Lateness at the reading before.
    before: BTreeMap<&'static str, LatenessCounts>,
}

pub(super) fn open(subject: &mut Subject) -> OpenedProbe {
    let back = if subject.users_are_relayed { TO_USERS } else { TO_STANDBY };
    let probe = |meter| RelayProbe { meter, back, rates: Rates::default(), before: BTreeMap::new() };
    Ok(subject.relay.take().map(|meter| Box::new(probe(meter)) as Box<dyn Probe>))
}

impl Probe for RelayProbe {
    fn read(&mut self, span: Option<Duration>) -> Result<Vec<Reading>, Error> {
        self.rates.turn(span);
        let mut readings = Vec::new();
        for counts in self.meter.read() {
            let direction = match counts.way {
                Way::ToPrimary => TO_PRIMARY,
                Way::ToStandby => self.back,
            };
            let cpu = self.rates.per_second(&format!("cpu {direction}"), counts.cpu.as_secs_f64());
            readings.extend(cpu.map(|cpu| relay::CPU.reading(direction, cpu)));
            let all = counts.late.releases() as f64;
            let releases = self.rates.per_second(direction, all);
            readings.extend(releases.map(|releases| relay::RELEASES.reading(direction, releases)));
            let late = self.before.get(direction).map(|before| counts.late.since(before));
            for (series, share) in [(relay::LATE_P50, 0.5), (relay::LATE_P99, 0.99)] {
                let found = late.as_ref().and_then(|late| late.percentile(share));
                readings.extend(found.map(|found| series.reading(direction, found)));
            }
            self.before.insert(direction, counts.late);
        }
        Ok(readings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::relay::{LinkLaw, Relay};
    use crate::test_clock::TestClock;
    use proofload_engine::SocketPlace;
    use std::sync::Arc;

    #[test]
    fn what_passed_between_two_readings_is_told_by_direction() {
        let folder = tempfile::tempdir().unwrap();
        let [at, to] = ["relay", "server"].map(|name| SocketPlace::File(folder.path().join(name)));
        let law = LinkLaw { delay: Duration::from_millis(2), rate: None };
        let relay = Relay::start(&at, to, law, Arc::new(TestClock::new())).unwrap();
        let mut subject = Subject { relay: Some(relay.meter()), ..Subject::default() };
        let mut probe = open(&mut subject).unwrap().unwrap();
        assert!(probe.read(None).unwrap().is_empty(), "what was measured before is the base");
        relay.round_trips(25).unwrap();
        let second = Some(Duration::from_secs(1));
        let readings = probe.read(second).unwrap();
        for direction in ["to_primary", "to_standby"] {
            let value = |name: &str| {
                let of = |one: &&Reading| one.name == name && one.component == direction;
                readings.iter().find(of).map(|one| one.value)
            };
            assert_eq!(value("releases"), Some(25.0), "{readings:?}");
            assert!(value("late_p50").unwrap() <= value("late_p99").unwrap(), "{readings:?}");
            assert!(value("cpu").is_some_and(|cpu| cpu > 0.0), "{readings:?}");
        }
        let names: Vec<String> = probe.read(second).unwrap().into_iter().map(|one| one.name).collect();
        assert_eq!(names, ["cpu", "releases", "cpu", "releases"], "an idle link is silent of lateness alone");
    }

    #[test]
    fn the_way_back_of_a_relay_of_users_leads_to_users() {
        let folder = tempfile::tempdir().unwrap();
        let [at, to] = ["relay", "server"].map(|name| SocketPlace::File(folder.path().join(name)));
        let law = LinkLaw { delay: Duration::ZERO, rate: None };
        let relay = Relay::start(&at, to, law, Arc::new(TestClock::new())).unwrap();
        let mut subject = Subject { relay: Some(relay.meter()), users_are_relayed: true, ..Subject::default() };
        let mut probe = open(&mut subject).unwrap().unwrap();
        probe.read(None).unwrap();
        relay.round_trips(3).unwrap();
        let readings = probe.read(Some(Duration::from_secs(1))).unwrap();
        let directions: std::collections::BTreeSet<&str> = readings.iter().map(|one| one.component.as_str()).collect();
        assert_eq!(directions.into_iter().collect::<Vec<_>>(), ["to_primary", "to_users"], "{readings:?}");
    }

    #[test]
    fn a_link_without_a_relay_is_not_read() {
        assert!(open(&mut Subject::default()).unwrap().is_none());
    }
}
