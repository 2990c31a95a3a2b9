//! Settings that are used only beside one word of another setting. Where no point has that word they would be ignored, so they are faults.

use super::contradictions::RuleContext;
use super::factor::values_of;
use super::read::ParsedStudy;
use crate::catalogue::Catalogue;
use crate::settings::{SettingWord, Value};
use toml_edit::Value as Toml;

/// What is given has a point that uses it. With the word among the levels of a factor, other points do without it.
pub(super) fn words_use(look: &mut RuleContext<'_>) {
    for path in look.given_paths() {
        let Some(SettingWord { setting, word }) = look.given.setting(&path).and_then(|spec| spec.beside) else {
            continue;
        };
        let is_word = |value: &&Value| matches!(value, Value::Text(text) if text == word);
        if !values_of(setting, &look.study.settings, &look.study.factors).iter().any(is_word) {
            let reason = format!("belongs to {setting} = \"{word}\"; remove it or set {setting} = \"{word}\"");
            look.fault(&path, reason);
        }
    }
}

/// Leaves out what a study file gives, as a value or as levels, for other words of a setting than those that `--set` chooses.
pub(super) fn lay_over_words(parsed: &mut ParsedStudy, (setting, value): (&str, &Toml), catalogue: &Catalogue) {
    let words: Option<Vec<&str>> = match value {
        Toml::Array(words) => words.iter().map(Toml::as_str).collect(),
        word => word.as_str().map(|word| vec![word]),
    };
    let Some(chosen) = words else { return };
    let is_of_another = |word: SettingWord| word.setting == setting && !chosen.contains(&word.word);
    let of_another = catalogue.settings().filter(|spec| spec.beside.is_some_and(is_of_another));
    let unused: Vec<&str> = of_another.map(|spec| spec.path).collect();
    // What `--set` gives has no line.
    parsed.assignments.retain(|key| key.line.is_none() || !unused.contains(&key.path.as_str()));
    for path in unused {
        parsed.factors.retain_mut(|factor| factor.line.is_none() || factor.leave_out(path));
    }
}
