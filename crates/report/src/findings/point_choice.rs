//! Points chosen by their levels, and what is said of a level that no point has: one reading for every command that takes them.

use super::factor::{level_of, level_text};
use proofload_model::settings::Value;

/// Levels of one factor that an answer lists at most.
const MOST_LISTED: usize = 20;

/// A level as it was asked for: `limits.memory=64MiB`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Level {
    /// Path of the setting.
    pub setting: String,
    /// The level as a study writes it.
    pub value: String,
}

impl Level {
    /// Reads `SETTING=LEVEL`; `None` when a part is missing.
    pub fn parse(text: &str) -> Option<Self> {
        let (setting, value) = text.split_once('=')?;
        let (setting, value) = (setting.trim().to_owned(), value.trim().to_owned());
        (!setting.is_empty() && !value.is_empty()).then_some(Self { setting, value })
    }

    /// Tells whether a value is this level, as a study file or a report writes it.
    pub(crate) fn is(&self, value: &Value) -> bool {
        let plain = |text: &str| text.replace([' ', '\u{a0}'], "");
        let shown = [level_text(value), level_of(&self.setting, value)];
        value.to_string() == self.value || shown.iter().any(|text| plain(text) == plain(&self.value))
    }
}

/// Tells whether a point is asked for: it has one of the levels of each setting that is named. Levels of one setting are alternatives.
pub(crate) fn is_asked_for(asked: &[Level], has: impl Fn(&Level) -> bool) -> bool {
    asked.iter().all(|level| asked.iter().any(|other| other.setting == level.setting && has(other)))
}

/// Settings, each with its levels as a study file writes them.
type Listed = Vec<(String, Vec<String>)>;

/// The factors with the levels that points have, and the settings that levels of groups assign.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct KnownLevels {
    factors: Listed,
    inside_groups: Listed,
}

impl KnownLevels {
    /// Adds a level of a factor.
    pub(crate) fn add(&mut self, factor: &str, level: &Value) {
        add(&mut self.factors, factor, level);
    }

    /// Adds a value of a setting that a group varies.
    pub(crate) fn add_inside(&mut self, setting: &str, value: &Value) {
        add(&mut self.inside_groups, setting, value);
    }

    /// Says that no point has a level: which there are, and how an option of the command line names one of them.
    pub(crate) fn refusal(&self, wrong: &Level, option: &str) -> String {
        let Level { setting, value } = wrong;
        let begin = format!("no point has {setting}={value}");
        let known = self.factors.iter().chain(&self.inside_groups).find(|(known, _)| known == setting);
        let Some((example, levels)) = known.or_else(|| self.factors.first()) else {
            return format!("{begin}; nothing varies, so leave out {option}");
        };
        let there = match known {
            Some((_, levels)) => format!("the levels of {setting} are {}", told(levels)),
            None => {
                let factors = self.factors.iter().map(|(factor, levels)| format!("{factor} ({})", told(levels)));
                format!("the factors are {}", factors.collect::<Vec<_>>().join(" and "))
            }
        };
        let example = levels.first().map(|level| typed(&format!("{example}={level}"))).unwrap_or_default();
        format!("{begin}; {there}; for example {option} {example}")
    }
}

fn add(to: &mut Listed, setting: &str, value: &Value) {
    let text = value.to_string();
    match to.iter_mut().find(|(known, _)| known == setting) {
        Some((_, levels)) if levels.contains(&text) => {}
        Some((_, levels)) => levels.push(text),
        None => to.push((setting.to_owned(), vec![text])),
    }
}

fn told(levels: &[String]) -> String {
    let listed: Vec<String> = levels.iter().take(MOST_LISTED).map(|level| typed(level)).collect();
    let more = levels.len().saturating_sub(MOST_LISTED);
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    listed.join(", ") + &more
}

/// A text as it is typed into a shell.
fn typed(text: &str) -> String {
    let is_plain = text.chars().all(|letter| letter.is_alphanumeric() || "-_./+,:@=%".contains(letter));
    if is_plain { text.to_owned() } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level(text: &str) -> Level {
        Level::parse(text).expect("a level")
    }

    #[test]
    fn a_level_has_a_setting_and_a_value() {
        let is = |setting: &str, value: &str| Level { setting: setting.to_owned(), value: value.to_owned() };
        assert_eq!(Level::parse("limits.memory = 64MiB"), Some(is("limits.memory", "64MiB")));
        for wrong in ["limits.memory", "=64MiB", "limits.memory=", ""] {
            assert_eq!(Level::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_level_is_known_as_a_study_and_as_a_report_write_it() {
        let table = |values: &[(&str, Value)]| {
            Value::Table(values.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect())
        };
        let cache = table(&[
            ("percent", Value::Integer(30)),
            ("accelerate", Value::List(vec!["data".to_owned(), "log".to_owned()])),
        ]);
        for shown in ["cache of 30 % of the data for data and log", "cache of 30\u{a0}% of the data for data and log"] {
            assert!(level(&format!("storage.cache={shown}")).is(&cache), "{shown}");
            assert!(!level(&format!("storage={shown}")).is(&cache), "{shown}");
        }
        let as_written = Level { setting: "storage.cache".to_owned(), value: cache.to_string() };
        assert!(as_written.is(&cache), "{as_written:?}");
        assert!(level("storage.cache=no cache").is(&table(&[("percent", Value::Integer(0))])));
        assert!(!level("storage.cache=no cache").is(&cache));
    }

    #[test]
    fn a_wrong_level_is_answered_with_the_factor_its_levels_and_an_example() {
        let mut known = KnownLevels::default();
        let told = |known: &KnownLevels, text: &str| known.refusal(&level(text), "--point");
        assert_eq!(told(&known, "limits.cpu=1"), "no point has limits.cpu=1; nothing varies, so leave out --point");
        let async_alone = [("mode".to_owned(), Value::Text("async".to_owned()))].into_iter().collect();
        let groups = [Value::Table(async_alone), Value::Table(std::collections::BTreeMap::new())];
        groups.iter().for_each(|group| known.add("replication", group));
        known.add_inside("replication.mode", &Value::Text("async".to_owned()));
        [2, 4, 2].iter().for_each(|users| known.add("workload.virtual_users", &Value::Integer(*users)));
        assert_eq!(
            told(&known, "workload.virtual_users=3"),
            "no point has workload.virtual_users=3; the levels of workload.virtual_users are 2, 4; for example \
             --point workload.virtual_users=2"
        );
        assert_eq!(
            told(&known, "replication=sync"),
            "no point has replication=sync; the levels of replication are 'mode async', unchanged; for example \
             --point 'replication=mode async'"
        );
        assert_eq!(
            told(&known, "replication.mode=sync"),
            "no point has replication.mode=sync; the levels of replication.mode are async; for example \
             --point replication.mode=async"
        );
        assert_eq!(
            told(&known, "users=3"),
            "no point has users=3; the factors are replication ('mode async', unchanged) and workload.virtual_users \
             (2, 4); for example --point 'replication=mode async'"
        );
        (0..30).for_each(|users| known.add("users", &Value::Integer(users)));
        assert!(told(&known, "users=99").contains("18, 19 and 10 more; for example --point users=0"));
    }

    #[test]
    fn levels_of_one_setting_are_alternatives_and_settings_all_hold() {
        let asked = ["a=1", "a=2", "b=3"].map(level);
        let of = |held: &[&str]| {
            let held: Vec<Level> = held.iter().map(|text| level(text)).collect();
            is_asked_for(&asked, |wanted| held.contains(wanted))
        };
        assert!(of(&["a=2", "b=3"]) && of(&["a=1", "b=3"]));
        assert!(!of(&["a=1"]) && !of(&["a=3", "b=3"]));
    }
}
