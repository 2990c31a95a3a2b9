//! Reading `[[factor]]` tables and what must hold between them. May not look at other settings than those that vary.

use super::factor::Factor;
use super::fault::{Fault, nearest};
use super::read::{Assignment, FactorText, LevelText};
use super::validate::{Kinds, find, near_word, unknown};
use super::value_set::ValueSet;
use crate::catalogue::Catalogue;
use crate::settings::{SettingSpec, Settings, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Reads one factor.
pub(super) fn read_factor(factor: &FactorText, known: (&Catalogue, &Kinds), faults: &mut Vec<Fault>) -> Option<Factor> {
    other_keys(factor, faults);
    let levels = factor.keys.iter().find(|key| key.path == "levels");
    let (Some(setting), Some(levels)) = (factor.setting(), levels) else {
        let reason = "a factor needs setting (a string) and levels (a list)";
        faults.push(Fault::new(factor.line, "factor", reason));
        return None;
    };
    let mut reader = FactorReader { setting, catalogue: known.0, kinds: known.1, faults };
    let target = reader.target(factor);
    if factor.levels.is_empty() {
        reader.tell(Fault::new(levels.line, setting, "levels must be a list of at least one value"));
        return None;
    }
    let target = target?;
    let (mut values, mut known_values) = (Vec::new(), ValueSet::default());
    for level in &factor.levels {
        let value = match target {
            FactorTarget::One(spec) => reader.plain(spec, level),
            FactorTarget::Group => reader.table(level),
        };
        let Some(value) = value else { continue };
        if known_values.add(&value) {
            values.push(value);
        } else {
            reader.twice(level, &value);
        }
    }
    Some(Factor { setting: setting.to_owned(), levels: values })
}

/// What a factor varies.
#[derive(Clone, Copy)]
enum FactorTarget<'a> {
    One(&'a SettingSpec),
    Group,
}

struct FactorReader<'a> {
    setting: &'a str,
    catalogue: &'a Catalogue,
    kinds: &'a Kinds,
    faults: &'a mut Vec<Fault>,
}

impl<'a> FactorReader<'a> {
    fn target(&mut self, factor: &FactorText) -> Option<FactorTarget<'a>> {
        let (setting, tables) = (self.setting, factor.levels.iter().any(|level| level.keys.is_some()));
        match find(self.catalogue, setting, self.kinds) {
            // Below a path that ends in `*` a name may be a setting or the beginning of several.
            Some(spec) if spec.path.ends_with('*') && tables => Some(FactorTarget::Group),
            Some(spec) if spec.factor => Some(FactorTarget::One(spec)),
            Some(_) => {
                self.tell(Fault::new(factor.line, setting, SAME_FOR_ALL));
                None
            }
            None if self.is_table(setting) => Some(FactorTarget::Group),
            None => {
                let mut wrong = unknown(setting, factor.line, self.catalogue, self.faults.len());
                let groups = if tables { groups(self.catalogue) } else { BTreeSet::new() };
                if let Some(group) = nearest(setting, groups.into_iter()) {
                    wrong.suggestion = Some(group);
                }
                self.tell(wrong);
                None
            }
        }
    }

    fn is_table(&self, path: &str) -> bool {
        self.catalogue.settings().any(|spec| spec.path.strip_prefix(path).is_some_and(|rest| rest.starts_with('.')))
    }

    fn plain(&mut self, spec: &SettingSpec, level: &LevelText) -> Option<Value> {
        let read = spec.kind.read(&level.value);
        let wrong = |reason| Fault {
            line: level.line,
            key: self.setting.to_owned(),
            reason,
            suggestion: near_word(spec, &level.value),
        };
        read.map_err(|reason| self.tell(wrong(reason))).ok()
    }

    /// A level of a group; nothing if one of its settings is at fault.
    fn table(&mut self, level: &LevelText) -> Option<Value> {
        let setting = self.setting;
        let Some(keys) = &level.keys else {
            let reason = format!(
                "{} is not a table: {setting} is a group of settings, so each level is a table of the ones it sets, \
                 such as {}",
                level.value.to_string().trim(),
                self.example()
            );
            self.tell(Fault::new(level.line, setting, reason));
            return None;
        };
        let keys: Vec<&Assignment> = keys.iter().filter(|key| !self.is_empty_table(key)).collect();
        let read: Vec<_> = keys.into_iter().map(|key| self.entry(key)).collect();
        Some(Value::Table(read.into_iter().collect::<Option<BTreeMap<_, _>>>()?))
    }

    /// A table of settings that sets none of them.
    fn is_empty_table(&self, key: &Assignment) -> bool {
        let is_empty = key.value.as_inline_table().is_some_and(|table| table.is_empty());
        is_empty && self.is_table(&format!("{}.{}", self.setting, key.path))
    }

    fn entry(&mut self, key: &Assignment) -> Option<(String, Value)> {
        let path = format!("{}.{}", self.setting, key.path);
        let Some(spec) = find(self.catalogue, &path, self.kinds) else {
            self.tell(unknown(&path, key.line, self.catalogue, self.faults.len()));
            return None;
        };
        if !spec.factor {
            self.tell(Fault::new(key.line, &path, SAME_FOR_ALL));
            return None;
        }
        match spec.kind.read(&key.value) {
            Ok(value) => Some((key.path.clone(), value)),
            Err(reason) => {
                let suggestion = near_word(spec, &key.value);
                self.tell(Fault { line: key.line, key: path, reason, suggestion });
                None
            }
        }
    }

    fn twice(&mut self, level: &LevelText, value: &Value) {
        self.tell(Fault::new(level.line, self.setting, format!("level {value} is listed twice")));
    }

    /// Notes a fault, once for each line.
    fn tell(&mut self, fault: Fault) {
        if !self.faults.contains(&fault) {
            self.faults.push(fault);
        }
    }

    /// A setting of the group, as a level would write it.
    fn example(&self) -> String {
        let below = |spec: &SettingSpec| {
            let rest = spec.path.strip_prefix(self.setting)?.strip_prefix('.')?;
            spec.factor.then(|| rest.replace('*', "name"))
        };
        let first = self.catalogue.settings().find_map(below).unwrap_or_else(|| "name".to_owned());
        format!("{{ {first} = … }}")
    }
}

const SAME_FOR_ALL: &str = "cannot be a factor: this setting is the same for all points";

fn other_keys(factor: &FactorText, faults: &mut Vec<Fault>) {
    for key in factor.keys.iter().filter(|key| !["setting", "levels"].contains(&key.path.as_str())) {
        let suggestion = nearest(&key.path, ["setting", "levels"].into_iter());
        let reason = "a factor takes only setting and levels".to_owned();
        faults.push(Fault { line: key.line, key: format!("factor.{}", key.path), reason, suggestion });
    }
}

/// Beginnings of paths that a factor can be given as a group.
pub(crate) fn groups(catalogue: &Catalogue) -> BTreeSet<&'static str> {
    let beginnings = |path: &'static str| path.match_indices('.').map(move |(at, _)| &path[..at]);
    catalogue.settings().filter(|spec| spec.factor).flat_map(|spec| beginnings(spec.path)).collect()
}

/// One factor for each setting, alone or in a group.
pub(super) fn two_factors(factors: &[Factor], texts: &[FactorText], faults: &mut Vec<Fault>) {
    for (index, factor) in factors.iter().enumerate() {
        let earlier = &factors[..index];
        if earlier.iter().any(|other| other.setting == factor.setting) {
            let line = texts.iter().rfind(|text| text.setting() == Some(&factor.setting)).and_then(|text| text.line);
            faults.push(Fault::new(line, &factor.setting, "varied by two factors"));
            continue;
        }
        for path in factor.paths() {
            if let Some(other) = earlier.iter().find(|other| other.varies(&path)) {
                let text = texts.iter().find(|text| text.setting() == Some(&factor.setting));
                let names = format!("{} and {}", other.setting, factor.setting);
                let reason = format!("varied by two factors: {names}");
                faults.push(Fault::new(text.and_then(|text| text.line_of(&path)), &path, reason));
            }
        }
    }
}

/// Two levels of a group that come to the same settings would be measured as if they differed.
pub(super) fn sets_the_same(factors: &[Factor], texts: &[FactorText], settings: &Settings, faults: &mut Vec<Fault>) {
    for factor in factors.iter().filter(|factor| factor.is_group()) {
        let line = texts.iter().find(|text| text.setting() == Some(&factor.setting)).and_then(|text| text.line);
        let with = |level| settings.with([(&factor.setting, level)]);
        for (index, level) in factor.levels.iter().enumerate() {
            if let Some(same) = factor.levels[..index].iter().find(|other| with(other) == with(level)) {
                let reason = format!(
                    "levels {same:?} and {level:?} are the same",
                    same = same.to_string(),
                    level = level.to_string()
                );
                faults.push(Fault::new(line, &factor.setting, reason));
            }
        }
    }
}
