//! What varies between points: one setting, or a group of settings that change together. May not read study files.

use super::value_set::ValueSet;
use crate::settings::{Settings, Value};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// A setting, or a group of settings, that varies between points.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Factor {
    /// Path of the setting; of a group, the common beginning of its settings.
    pub setting: String,
    /// Its values, in the order of the file; of a group, tables.
    pub levels: Vec<Value>,
}

impl Factor {
    /// Whether its levels are tables of settings.
    pub fn is_group(&self) -> bool {
        self.levels.iter().any(|level| matches!(level, Value::Table(_)))
    }

    /// Settings that it varies: its own, or each that a level of a group assigns.
    pub fn paths(&self) -> BTreeSet<String> {
        let of_level = |level| Settings::of_level(&self.setting, level).0.into_keys();
        self.levels.iter().flat_map(of_level).collect()
    }

    /// Whether it varies a setting, alone or in a group.
    pub fn varies(&self, path: &str) -> bool {
        self.values(path).any(|value| value.is_some())
    }

    /// What each level assigns to a setting; `None` where a level of a group leaves it as the study has it.
    pub fn values<'a>(&'a self, path: &'a str) -> impl Iterator<Item = Option<&'a Value>> {
        self.levels.iter().map(move |level| level.assigned(&self.setting, path))
    }
}

/// All values that a setting takes in a study: those of the levels that assign it, and its one value where no factor or not every level
/// does.
pub fn values_of<'a>(path: &'a str, settings: &'a Settings, factors: &'a [Factor]) -> Vec<&'a Value> {
    let Some(factor) = factors.iter().find(|factor| factor.varies(path)) else {
        return settings.get(path).into_iter().collect();
    };
    let mut known = ValueSet::default();
    let all = factor.values(path).filter_map(|value| value.or_else(|| settings.get(path)));
    all.filter(|value| known.add(value)).collect()
}
