//! Settings of a running server that experiments change, and put back with everything else. May not know any of them by name.

use super::InstanceResources;
use proofload_engine::{LiveChange, LiveSetting, LiveSettings, Target};
use proofload_model::error::Error;
use proofload_model::intervention::{LIVE_ENGINE, LimitMeter, ResourceClass};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// Sizes are set in whole mebibytes: servers round them to blocks of theirs.
const STEP: f64 = (1 << 20) as f64;

/// Looks whether work goes on, and the time between two.
const LOOKS: u32 = 3;
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

/// Values that a server started with, of all settings that are changed.
#[derive(Debug)]
pub(super) struct UntouchedSettings {
    /// Process of the server.
    process: u32,
    values: BTreeMap<&'static str, String>,
}

/// Server with the settings that are to be changed, and their values now and at its start.
struct ChangeableServer<'a> {
    facet: &'static dyn LiveSettings,
    target: &'a Target,
    wanted: Vec<&'static LiveSetting>,
    untouched: &'a BTreeMap<&'static str, String>,
    found: BTreeMap<&'static str, String>,
}

impl InstanceResources {
    /// Sets these resources of the engine to shares of what they were at the start, with 0 for work that is off, and the others of `wanted`
    /// to what they were; nothing where the engine has none of them.
    pub(super) fn change_engine(&mut self, wanted: &[String], shares: &BTreeMap<String, f64>) -> Result<(), Error> {
        let Some(server) = self.changeable(wanted)? else { return Ok(()) };
        let asked = |one: &&'static LiveSetting| server.values(one, shares.get(one.resource).copied());
        let asked: Vec<(&str, String)> = server.wanted.iter().flat_map(asked).collect();
        let differs = |(name, value): &(&str, String)| server.found.get(name) != Some(value);
        let changes: Vec<(String, String)> =
            asked.into_iter().filter(differs).map(|(name, value)| (name.to_owned(), value)).collect();
        if changes.is_empty() { Ok(()) } else { Ok(server.facet.put(server.target, &changes)?) }
    }

    /// How they stand.
    pub(super) fn engine_meters(&mut self, wanted: &[String]) -> Result<Vec<LimitMeter>, Error> {
        let Some(server) = self.changeable(wanted)? else { return Ok(Vec::new()) };
        Ok(server.wanted.iter().map(|one| server.meter(one)).collect())
    }

    /// Resources among these of which work goes on now, at each of several looks: a process that only wakes works for a moment.
    pub(in crate::host) fn engine_at_work(&mut self, wanted: &[String]) -> Result<Vec<String>, Error> {
        let clock = Arc::clone(&self.clock);
        let Some(server) = self.changeable(wanted)? else { return Ok(Vec::new()) };
        let mut working: Vec<&'static str> = server.wanted.iter().map(|one| one.resource).collect();
        for look in 0..LOOKS {
            if look > 0 && !working.is_empty() {
                clock.sleep(BETWEEN_LOOKS);
            }
            let mut still = Vec::new();
            for resource in working {
                if server.facet.is_at_work(server.target, resource)? {
                    still.push(resource);
                }
            }
            working = still;
        }
        Ok(working.into_iter().map(str::to_owned).collect())
    }

    /// Has the server do what work of these resources left undone; what could not be done, in words.
    pub(in crate::host) fn engine_catches_up(&mut self, wanted: &[String]) -> Result<Vec<String>, Error> {
        let Some(server) = self.changeable(wanted)? else { return Ok(Vec::new()) };
        let undone = |one: &&'static LiveSetting| server.facet.catch_up(server.target, one.resource).err();
        Ok(server.wanted.iter().filter_map(undone).map(|error| error.to_string()).collect())
    }

    /// The server that runs here with those of `wanted` that it has; `None` where it has none of them.
    fn changeable(&mut self, wanted: &[String]) -> Result<Option<ChangeableServer<'_>>, Error> {
        let Some(running) = self.server.as_ref().filter(|_| !wanted.is_empty()) else { return Ok(None) };
        let engine = proofload_engine::engine(&running.target.place.engine);
        let Some(facet) = engine.and_then(|engine| engine.live_settings()) else { return Ok(None) };
        let wanted: Vec<&LiveSetting> =
            facet.known().iter().filter(|one| wanted.iter().any(|name| name == one.resource)).collect();
        let names: Vec<&'static str> = wanted.iter().flat_map(|one| names(one)).collect();
        if names.is_empty() {
            return Ok(None);
        }
        let values = facet.read(&running.target, &names)?;
        let found: BTreeMap<&'static str, String> = names.into_iter().zip(values).collect();
        let process = running.server.process();
        if self.untouched.as_ref().is_none_or(|known| known.process != process) {
            self.untouched = Some(UntouchedSettings { process, values: found.clone() });
        }
        let untouched = self.untouched.as_ref().map(|known| &known.values);
        let untouched = untouched.ok_or_else(|| Error::new("failed to keep the settings of the server"))?;
        let wanted: Vec<&LiveSetting> =
            wanted.into_iter().filter(|one| has_work_to_switch_off(one, untouched)).collect();
        if wanted.is_empty() {
            return Ok(None);
        }
        Ok(Some(ChangeableServer { facet, target: &running.target, wanted, untouched, found }))
    }
}

/// Tells whether a resource changes anything of a server that started with these values: a size never shrinks to switch work off.
fn has_work_to_switch_off(one: &LiveSetting, untouched: &BTreeMap<&'static str, String>) -> bool {
    match one.change {
        LiveChange::OffFrom(name, bytes) => {
            untouched.get(name).and_then(|value| value.parse::<u64>().ok()).is_some_and(|started| started < bytes)
        }
        LiveChange::Off(_) | LiveChange::Size(_) => true,
    }
}

/// Names of the settings of a resource.
fn names(one: &LiveSetting) -> Vec<&'static str> {
    match one.change {
        LiveChange::Off(settings) => settings.iter().map(|(name, _)| *name).collect(),
        LiveChange::Size(name) | LiveChange::OffFrom(name, _) => vec![name],
    }
}

impl ChangeableServer<'_> {
    fn untouched(&self, name: &str) -> String {
        self.untouched.get(name).cloned().unwrap_or_default()
    }

    /// Values of a resource's settings at a share of what they were at the start; `None`: what they were.
    fn values(&self, one: &LiveSetting, share: Option<f64>) -> Vec<(&'static str, String)> {
        match (one.change, share) {
            (LiveChange::Off(settings), Some(_)) => {
                settings.iter().map(|(name, value)| (*name, (*value).to_owned())).collect()
            }
            (LiveChange::OffFrom(name, bytes), Some(_)) => vec![(name, bytes.to_string())],
            (LiveChange::Size(name), Some(share)) => {
                let bytes = self.untouched(name).parse().unwrap_or(f64::NAN) * share;
                vec![(name, format!("{:.0}", (bytes / STEP).round() * STEP))]
            }
            (_, None) => names(one).into_iter().map(|name| (name, self.untouched(name))).collect(),
        }
    }

    /// Work that is on is 1, and 0 while it is off; a size is told in bytes.
    fn meter(&self, one: &LiveSetting) -> LimitMeter {
        let is = |share| self.values(one, share).iter().all(|(name, value)| self.found.get(name) == Some(value));
        let (asked, in_force) = match one.change {
            LiveChange::Off(_) | LiveChange::OffFrom(..) if is(None) => (1.0, Some(1.0)),
            LiveChange::Off(_) | LiveChange::OffFrom(..) => (1.0, Some(0.0).filter(|_| is(Some(0.0)))),
            LiveChange::Size(name) => {
                let bytes = |text: Option<&String>| text.and_then(|text| text.parse::<f64>().ok());
                (bytes(self.untouched.get(name)).unwrap_or(f64::NAN), bytes(self.found.get(name)))
            }
        };
        let class = LIVE_ENGINE.iter().find(|(resource, _)| *resource == one.resource);
        LimitMeter {
            setting: one.resource.to_owned(),
            class: class.map_or(ResourceClass::Structure, |(_, class)| *class),
            settles: one.settles,
            asked,
            in_force,
            used: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_grown_to_switch_work_off_and_never_shrunk() {
        let change = LiveChange::OffFrom("innodb_log_file_size", 256 << 20);
        let one = LiveSetting { resource: "engine.checkpoints", change, settles: Duration::ZERO };
        let offered = |started: u64| {
            has_work_to_switch_off(&one, &BTreeMap::from([("innodb_log_file_size", started.to_string())]))
        };
        assert!(offered(4 << 20) && offered((256 << 20) - 1));
        assert!(!offered(256 << 20) && !offered(512 << 20));
        assert!(!has_work_to_switch_off(&one, &BTreeMap::new()), "a size that is not told is left alone");
    }
}
