//! Settings below `engine.settings` by what the engines themselves know of names and values. May not know any engine by name.

use super::contradictions::RuleContext;
use crate::catalogue::{Catalogue, EnginePlace};
use crate::plan::expand;
use crate::settings::{Settings, setting};
use std::collections::{BTreeMap, BTreeSet};

/// Group of settings that are handed to an engine as they stand.
const GROUP: &str = "engine.settings";

/// Settings for one engine, each as its path in the study and a value.
type GivenSettings = BTreeSet<(String, String)>;

/// An engine is given no setting and no value of which it knows, before it runs, that it does not take them.
pub(super) fn engine_settings_taken(look: &mut RuleContext<'_>) {
    if !look.given_paths().iter().any(|path| path.starts_with(GROUP)) {
        return;
    }
    let settings = &look.study.settings;
    let is_here = settings.get(setting::ENGINE_URL).is_none() && settings.list(setting::AGENTS_HOST).is_empty();
    let place = if is_here { EnginePlace::Here } else { EnginePlace::Elsewhere };
    let mut found: BTreeSet<(String, String)> = BTreeSet::new();
    for (engine, given) in given_settings(look) {
        let Some(engine) = look.given.catalogue().engine(&engine) else { continue };
        let names = engine.setting_names.map(|names| names());
        let plain = |path: &str| name_of(path, engine.name).to_owned();
        // A name that is not in the engine's fixed list is told by the rule of that list.
        let is_known = |path: &str| names.as_ref().is_none_or(|names| names.contains(&name_of(path, engine.name)));
        let given: Vec<_> = given.into_iter().filter(|(path, _)| is_known(path)).collect();
        let pairs: Vec<_> = given.iter().map(|(path, value)| (plain(path), value.clone())).collect();
        for refused in (engine.refused_settings)(place, &pairs) {
            let of = |(path, value): &&(String, String)| plain(path) == refused.name && *value == refused.value;
            found.extend(given.iter().filter(of).map(|(path, _)| (path.clone(), refused.reason.clone())));
        }
    }
    for (path, reason) in found {
        look.fault(&path, reason);
    }
}

/// Every setting with every value that the points of a study give to each engine, by the engine's name.
fn given_settings(look: &RuleContext<'_>) -> BTreeMap<String, GivenSettings> {
    let mut found: BTreeMap<String, GivenSettings> = BTreeMap::new();
    for point in expand(look.study).points {
        let settings = look.study.settings.with(&point.levels);
        let Ok(engine) = settings.text(setting::ENGINE_KIND) else { continue };
        let given = of_point(&settings, engine, look.given.catalogue());
        found.entry(engine.to_owned()).or_default().extend(given);
    }
    found
}

/// What a point gives to its engine, without what belongs to another by its name in front.
fn of_point(settings: &Settings, engine: &str, catalogue: &Catalogue) -> GivenSettings {
    let is_of_another = |name: &str| {
        let owner = name.split_once('.').map(|(owner, _)| owner);
        owner.is_some_and(|owner| owner != engine && catalogue.engine(owner).is_some())
    };
    let given = settings.below(GROUP).filter(|(name, _)| !is_of_another(name));
    given.map(|(name, value)| (format!("{GROUP}.{name}"), value.to_string())).collect()
}

/// The name of a setting as its engine has it.
fn name_of<'p>(path: &'p str, engine: &str) -> &'p str {
    let below = path.strip_prefix(GROUP).and_then(|rest| rest.strip_prefix('.')).unwrap_or(path);
    below.strip_prefix(engine).and_then(|rest| rest.strip_prefix('.')).unwrap_or(below)
}
