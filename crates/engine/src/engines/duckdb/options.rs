//! The engine's own settings, and the options of DuckDB that a study sets. Values are checked before they reach DuckDB.

use crate::contract::Error;
use proofload_model::settings::{Kind, Scope, SettingSpec};
use proofload_model::units::parse_duration;
use std::time::Duration;

/// The settings below `engine.`.
pub(super) const SETTINGS: &[SettingSpec] = &[
    SettingSpec::optional(
        "engine.library",
        Kind::Text,
        "The DuckDB library, or the folder that contains it. By default Proofload looks in `PROOFLOAD_DUCKDB`, the \
         program's folder, the user's data folder (where `make duckdb` puts it) and the usual library folders, in this \
         order.",
    )
    .only(Scope::Engine("duckdb")),
    SettingSpec::optional(
        "engine.threads",
        Kind::Integer { least: 1, most: 4096 },
        "Threads that all DuckDB sessions share; by default one for each core that DuckDB may use.",
    )
    .only(Scope::Engine("duckdb")),
    SettingSpec::optional(
        "engine.statement_timeout",
        Kind::Duration { least_ms: 10, most_ms: 24 * 3_600_000 },
        "Time limit of one statement; a longer one is interrupted and counts as failed. By default there is no limit.",
    )
    .only(Scope::Engine("duckdb")),
];

/// What holds unless the study says otherwise: nothing is fetched from anywhere during a run.
const DEFAULTS: &[(&str, &str)] = &[("autoinstall_known_extensions", "false")];

/// What a study asks of DuckDB.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Options {
    /// `engine.library`.
    pub(super) library: Option<String>,
    /// `engine.statement_timeout`.
    pub(super) statement_timeout: Option<Duration>,
    /// Options under DuckDB's own names with their values as asked; each name once.
    pub(super) asked: Vec<(String, String)>,
}

impl Options {
    /// Reads settings; later ones win.
    pub(super) fn read(settings: &[(String, String)]) -> Result<Self, Error> {
        let mut options = Self { library: None, statement_timeout: None, asked: Vec::new() };
        for (name, value) in DEFAULTS {
            options.ask(name, value);
        }
        for (name, value) in settings {
            match name.as_str() {
                "library" => options.library = Some(value.clone()),
                "statement_timeout" => options.statement_timeout = Some(limit(value)?),
                _ if is_name(name) => options.ask(name, value),
                _ => {
                    return Err(Error::other(format!(
                        "DuckDB setting {name:?} must consist of letters, digits and '_'"
                    )));
                }
            }
        }
        Ok(options)
    }

    fn ask(&mut self, name: &str, value: &str) {
        self.asked.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        self.asked.push((name.to_ascii_lowercase(), value.to_owned()));
    }

    /// The value asked for an option.
    pub(super) fn value(&self, name: &str) -> Option<&str> {
        self.asked.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

fn limit(text: &str) -> Result<Duration, Error> {
    parse_duration(text).map_err(|error| Error::other(format!("DuckDB setting statement_timeout: {error}")))
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(settings: &[(&str, &str)]) -> Result<Options, Error> {
        let settings: Vec<_> = settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Options::read(&settings)
    }

    #[test]
    fn later_settings_win_and_ours_are_taken_out() {
        let options = read(&[
            ("memory_limit", "64MiB"),
            ("library", "/opt/x.so"),
            ("Memory_Limit", "32MiB"),
            ("statement_timeout", "2s"),
        ]);
        let options = options.expect("reads");
        assert_eq!((options.value("memory_limit"), options.value("library")), (Some("32MiB"), None));
        assert_eq!(
            (options.library.as_deref(), options.statement_timeout),
            (Some("/opt/x.so"), Some(Duration::from_secs(2)))
        );
        assert_eq!(options.value("autoinstall_known_extensions"), Some("false"));
    }

    #[test]
    fn what_is_no_name_or_no_duration_is_refused() {
        assert!(read(&[("threads = 1; DROP TABLE x", "1")]).is_err());
        assert!(read(&[("statement_timeout", "soon")]).is_err());
    }
}
