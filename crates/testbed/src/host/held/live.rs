//! Changes of an instance while load goes on: of its limits, of the relay by which its users come, and of the delay of its flushes. One request
//! sets all of it.

use super::InstanceResources;
use super::flushes::FlushDelay;
use crate::limits::{AppliedLimits, Controller};
use crate::relay::{LinkLaw, Relay};
use proofload_model::error::Error;
use proofload_model::facts::limit;
use proofload_model::intervention::{CLIENTS_BANDWIDTH, CLIENTS_RTT, FLUSH_DELAY, LimitMeter, ResourceClass};
use proofload_model::samples::Fact;
use proofload_model::units::BytesPerSecond;
use proofload_model::wire::LimitsAsked;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// Round trips by which a delay is verified; the shortest counts.
const TRIPS: u32 = 3;
/// A round trip may be shorter than what is asked by this share and this time.
const SHORTER: (f64, Duration) = (0.05, Duration::from_micros(100));
/// How long a change of a relay takes to act beside the delay itself.
const SETTLES: Duration = Duration::from_millis(200);

impl InstanceResources {
    /// Sets what can be changed to shares of what was asked for, and everything else to what was asked for; how it stands then.
    pub(in crate::host) fn change_limits(
        &mut self,
        shares: &BTreeMap<String, f64>,
        of_engine: &[String],
    ) -> Result<Vec<LimitMeter>, Error> {
        let (shares_of_engine, shares): (BTreeMap<String, f64>, BTreeMap<String, f64>) =
            shares.clone().into_iter().partition(|(setting, _)| of_engine.contains(setting));
        let (of_flushes, shares): (BTreeMap<_, _>, BTreeMap<_, _>) =
            shares.into_iter().partition(|(setting, _)| self.flush_delay.is_some() && setting == FLUSH_DELAY);
        let (of_relay, of_limits) = shares.into_iter().partition(|(setting, _)| setting.starts_with("clients."));
        let of_server = self.change_engine(of_engine, &shares_of_engine);
        let relayed = self.link.as_ref().map_or(Ok(()), |relay| change_relay(relay, &of_relay));
        // Limits are set in any case, so that none stays lowered where the relay resists.
        let changed = self.limits_in_place()?.change(&of_limits);
        let delayed = self.flush_delay.as_ref().map_or(Ok(()), |one| one.change(of_flushes.get(FLUSH_DELAY).copied()));
        relayed.and(changed).and(of_server).and(delayed)?;
        self.meters(of_engine)
    }

    /// How what can be changed stands.
    pub(in crate::host) fn meters(&mut self, of_engine: &[String]) -> Result<Vec<LimitMeter>, Error> {
        let mut meters = self.limits_in_place()?.meters();
        meters.extend(self.link.as_ref().map(relay_meters).unwrap_or_default());
        meters.extend(self.engine_meters(of_engine)?);
        meters.extend(self.flush_delay.as_ref().map(FlushDelay::meter));
        Ok(meters)
    }

    /// Puts a process that is no instance into a group of its own with precedence and these limits, in the place of an earlier one. Where
    /// nothing but precedence is asked for and it cannot be had, the process stays where it is, and a fact says why.
    pub(in crate::host) fn limit_process(&mut self, process: u32, asked: LimitsAsked) -> Result<Vec<Fact>, Error> {
        self.drop_limits();
        let is_precedence_alone = asked == LimitsAsked::default();
        let facts = match self.enclose_process(process, asked) {
            Ok(facts) => facts,
            Err(why) if is_precedence_alone => {
                self.drop_limits();
                vec![limit::WEIGHT.unknown(why.to_string())]
            }
            Err(why) => {
                // No group stays with the process in it.
                self.drop_limits();
                return Err(why);
            }
        };
        Ok(self.stamped(facts))
    }

    /// Makes the group and has the process enter it; without a weight of CPU time it fails where precedence is asked for.
    fn enclose_process(&mut self, process: u32, asked: LimitsAsked) -> Result<Vec<Fact>, Error> {
        let has_precedence = !asked.without_precedence;
        let limits = AppliedLimits::prepare_process(&self.name, asked, self.devices())?;
        if has_precedence {
            limits.group().dir(Controller::Cpu)?;
        }
        self.remains.set_group(Some(limits.group().clone()));
        self.limits = Some(limits.timed_by(Arc::clone(&self.clock)));
        self.join_limits(process)?;
        Ok(self.limits_in_place()?.verify())
    }
}

/// Sets what a relay does to bytes, and finds a round trip as long as was set.
fn change_relay(relay: &Relay, shares: &BTreeMap<String, f64>) -> Result<(), Error> {
    let share = |setting: &str| shares.get(setting).copied().unwrap_or(1.0);
    let (asked, before) = (relay.asked(), relay.law());
    let law = LinkLaw {
        delay: asked.delay.div_f64(share(CLIENTS_RTT)),
        rate: asked.rate.map(|rate| BytesPerSecond((rate.0 as f64 * share(CLIENTS_BANDWIDTH)).round() as u64)),
    };
    if law == before {
        return Ok(());
    }
    relay.set_law(law);
    let shortest = relay.round_trips(TRIPS)?.into_iter().min().unwrap_or_default();
    let (part, time) = SHORTER;
    if shortest + time < (2 * law.delay).mul_f64(1.0 - part) {
        return Err(Error::new(format!(
            "failed to change the round trip of users to {:?}: {shortest:?} was measured",
            2 * law.delay
        )));
    }
    Ok(())
}

/// A relay of users as resources: round trips per second, and bytes per second. One that does nothing to bytes has none.
fn relay_meters(relay: &Relay) -> Vec<LimitMeter> {
    let (asked, law) = (relay.asked(), relay.law());
    let trips = |law: LinkLaw| 1.0 / (2.0 * law.delay.as_secs_f64());
    let settles = SETTLES + 2 * law.delay;
    let rtt = LimitMeter {
        setting: CLIENTS_RTT.to_owned(),
        class: ResourceClass::Speed,
        settles,
        asked: trips(asked),
        in_force: Some(trips(law)),
        used: Vec::new(),
    };
    let bandwidth = asked.rate.zip(law.rate).map(|(asked, rate)| LimitMeter {
        setting: CLIENTS_BANDWIDTH.to_owned(),
        class: ResourceClass::Capacity,
        settles,
        asked: asked.0 as f64,
        in_force: Some(rate.0 as f64),
        used: relay.passed().map(|bytes| bytes as f64).to_vec(),
    });
    Some(rtt).filter(|_| !asked.delay.is_zero()).into_iter().chain(bandwidth).collect()
}
