//! The settings of a study that an engine is run with. May not know any engine by name.

use crate::contract::Engine;
use proofload_model::settings::{SettingSpec, Settings, Value, setting};

/// The settings for [`proofload_model::wire::DataLocation::settings`]: those that `limits.memory` implies for so many sessions, then the
/// engine's own (`engine.<name>`), then `engine.settings.*`, of which those below an engine's name (`engine.settings.postgresql.jit`) are
/// that engine's alone. Later ones win, so a study overrules what its memory limit implies.
pub fn place_settings(engine: &dyn Engine, settings: &Settings, sessions: u32) -> Vec<(String, String)> {
    place_settings_with_room(engine, settings, sessions, 0)
}

/// Settings as [`place_settings`] gives them, with room for so many more connections that do no work, where the memory limit implies how
/// many a server takes.
pub fn place_settings_with_room(
    engine: &dyn Engine,
    settings: &Settings,
    sessions: u32,
    more: u32,
) -> Vec<(String, String)> {
    let limit = engine.memory().zip(settings.bytes(setting::LIMITS_MEMORY).ok());
    let implied = limit.map(|(memory, limit)| memory.settings_with_room(limit, sessions, more));
    let about = engine.about();
    let own = about.settings.iter().flat_map(|spec| own_setting(settings, spec));
    let below = |path: &str, skip: bool| -> Vec<(String, String)> {
        let given = settings.below(path).filter(|(name, _)| !skip || !is_of_an_engine(name));
        given.map(|(name, value)| (name.to_owned(), value.to_string())).collect()
    };
    let general = below("engine.settings", true);
    let particular = below(&format!("engine.settings.{}", about.name), false);
    implied.unwrap_or_default().into_iter().chain(own).chain(general).chain(particular).collect()
}

/// A setting of the engine's own under its name there; each text of a list is one of the same name. Nothing where the study has no value.
fn own_setting(settings: &Settings, spec: &SettingSpec) -> Vec<(String, String)> {
    let Some(name) = spec.path.strip_prefix("engine.") else { return Vec::new() };
    let texts: Vec<String> = match settings.get(spec.path) {
        Some(Value::List(items)) => items.clone(),
        value => value.map(ToString::to_string).into_iter().collect(),
    };
    texts.into_iter().map(|text| (name.to_owned(), text)).collect()
}

/// Tells whether a name below `engine.settings` belongs to one engine, by its name in front.
fn is_of_an_engine(name: &str) -> bool {
    name.split_once('.').is_some_and(|(owner, _)| super::engine(owner).is_some())
}
