//! What the command line says of volumes, modes and policies, as values. All faults are collected; nothing is opened.

use crate::exit::Exit;
use crate::output;
use proofload_model::units::{Bytes, parse_duration};
use proofload_tier::machine::{CacheMode, CleanerSettings, PoolSettings, VolumeClass, VolumeSettings};
use proofload_tier::policy::PolicyChoice;
use std::path::PathBuf;
use std::time::Duration;

/// Everything that is wrong with a command line.
#[derive(Debug, Default)]
pub(super) struct Faults(Vec<String>);

impl Faults {
    /// Notes a fault.
    pub(super) fn add(&mut self, text: impl Into<String>) {
        self.0.push(text.into());
    }

    /// Takes a value, or notes why there is none.
    pub(super) fn take<T>(&mut self, of: &str, value: Result<T, impl std::fmt::Display>) -> Option<T> {
        value.map_err(|error| self.add(format!("{of}: {error}"))).ok()
    }

    /// All that is wrong, one a line.
    #[cfg(test)]
    pub(super) fn text(&self) -> String {
        self.0.join("\n")
    }

    /// The value when nothing was wrong; else everything is told, as an error of usage.
    pub(super) fn settle<T>(self, json: bool, value: Option<T>) -> Result<T, Exit> {
        match value {
            Some(value) if self.0.is_empty() => Ok(value),
            _ => Err(output::failure(json, Exit::Usage, &self.0.join("\nproofload: "))),
        }
    }
}

/// An origin by its volume.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OriginPlace {
    pub(super) class: VolumeClass,
    pub(super) path: PathBuf,
}

/// Reads `data=FILE`, each volume once, in the order of volumes in a pool: data, log, temp.
pub(super) fn origins(texts: &[String], faults: &mut Faults) -> Vec<OriginPlace> {
    let mut places: Vec<OriginPlace> = Vec::new();
    for text in texts {
        let Some((class, path)) = text.split_once('=').filter(|(_, path)| !path.is_empty()) else {
            faults.add(format!("--origin {text}: use VOLUME=FILE, such as data=/dev/sdb"));
            continue;
        };
        match class_named(class) {
            Err(fault) => faults.add(format!("--origin {text}: {fault}")),
            Ok(class) if places.iter().any(|place| place.class == class) => {
                faults.add(format!("--origin {text}: the volume {} has an origin already", class.name()));
            }
            Ok(class) => places.push(OriginPlace { class, path: path.into() }),
        }
    }
    places.sort_by_key(|place| place.class as u8);
    places
}

fn class_named(word: &str) -> Result<VolumeClass, String> {
    let found = VolumeClass::ALL.into_iter().find(|class| class.name() == word);
    found.ok_or_else(|| format!("unknown volume {word:?}; use data, log or temp"))
}

/// Reads `[VOLUME=]REST` for a pool with these volumes; without a name it is for the only one.
pub(super) fn for_volume<'a>(text: &'a str, places: &[OriginPlace]) -> Result<(usize, &'a str), String> {
    let named = text.split_once('=').filter(|(word, _)| class_named(word).is_ok());
    match named {
        None if places.len() == 1 => Ok((0, text)),
        None => Err("add the volume, such as data=…".to_owned()),
        Some((word, rest)) => {
            let place = places.iter().position(|place| place.class.name() == word);
            place.map(|place| (place, rest)).ok_or_else(|| format!("the pool has no volume {word}"))
        }
    }
}

/// Reads modes: one for all volumes, others for single ones.
pub(super) fn modes(texts: &[String], places: &[OriginPlace], faults: &mut Faults) -> Vec<CacheMode> {
    let mut modes = vec![CacheMode::WriteBack; places.len()];
    // One without a volume comes first, wherever it stands.
    let (single, all): (Vec<_>, Vec<_>) = texts.iter().partition(|text| text.contains('='));
    for text in all {
        if let Some(mode) = faults.take(&format!("--mode {text}"), mode(text)) {
            modes.fill(mode);
        }
    }
    for text in single {
        let read = for_volume(text, places).and_then(|(place, word)| Ok((place, mode(word)?)));
        if let Some((place, mode)) = faults.take(&format!("--mode {text}"), read) {
            modes[place] = mode;
        }
    }
    modes
}

/// Reads the name of a mode.
pub(super) fn mode(word: &str) -> Result<CacheMode, String> {
    let found = CacheMode::ALL.into_iter().find(|mode| mode.name() == word);
    found.ok_or_else(|| format!("unknown mode; use one of {}", CacheMode::ALL.map(CacheMode::name).join(", ")))
}

/// Reads the name of a policy.
pub(super) fn policy(word: &str) -> Result<PolicyChoice, String> {
    let found = PolicyChoice::ALL.into_iter().find(|policy| policy.name() == word);
    found.ok_or_else(|| {
        let names = PolicyChoice::ALL.map(PolicyChoice::name).join(", ");
        format!("unknown policy {word:?}; use one of {names}")
    })
}

/// The settings of a pool.
pub(super) fn pool_settings(policy: PolicyChoice, places: &[OriginPlace], modes: &[CacheMode]) -> PoolSettings {
    let volumes = places.iter().zip(modes);
    let volumes = volumes.map(|(place, mode)| VolumeSettings { class: place.class, mode: *mode, quota_lines: None });
    PoolSettings { policy, volumes: volumes.collect(), cleaner: CleanerSettings::usual(), verify_every_read: false }
}

/// Reads a size.
pub(super) fn size(of: &str, text: &str, faults: &mut Faults) -> Option<u64> {
    faults.take(of, Bytes::parse(text)).map(|bytes| bytes.0)
}

/// Reads a time.
pub(super) fn time(of: &str, text: &str, faults: &mut Faults) -> Option<Duration> {
    faults.take(of, parse_duration(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn origins_have_one_order_and_every_fault_is_told() {
        let mut faults = Faults::default();
        let places = origins(&strings(&["log=/b", "data=/a=1", "log=/c", "disk=/d", "/e", "temp="]), &mut faults);
        let found: Vec<_> = places.iter().map(|place| (place.class.name(), place.path.to_str().unwrap())).collect();
        assert_eq!(found, [("data", "/a=1"), ("log", "/b")]);
        assert_eq!(faults.0.len(), 4, "{faults:?}");
        assert!(faults.0[0].contains("log=/c") && faults.0[1].contains("\"disk\""), "{faults:?}");
    }

    #[test]
    fn a_mode_of_one_volume_wins_wherever_it_stands() {
        let mut faults = Faults::default();
        let places = origins(&strings(&["data=/a", "log=/b"]), &mut faults);
        let found = modes(&strings(&["log=write-through", "pass"]), &places, &mut faults);
        assert_eq!(found, [CacheMode::Pass, CacheMode::WriteThrough]);
        assert!(faults.0.is_empty());
        modes(&strings(&["back", "temp=pass", "log=back"]), &places, &mut faults);
        assert_eq!(faults.0.len(), 3, "{faults:?}");
        assert_eq!(for_volume("/s=1", &places[..1]), Ok((0, "/s=1")));
        assert!(for_volume("/s", &places).is_err());
    }
}
