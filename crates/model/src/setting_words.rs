//! Words of settings that several crates ask for, as types. May not decide what follows from them.

use crate::settings::{Settings, Value};
use crate::words::words;

words! {
    /// What happens if the machine does not allow a limit: `limits.when_refused`.
    WhenRefused {
        /// Nothing is started.
        Fail = "fail",
        /// The study runs without the limit.
        Without = "without",
    }
}

words! {
    /// Order of the points: `study.order`.
    RunOrder {
        /// Shuffled in each repetition.
        Random = "random",
        /// Order of the levels.
        Given = "given",
    }
}

words! {
    /// When the data are put back from the snapshot: `procedure.restore`.
    RestorePolicy {
        /// Restored before every run.
        EveryRun = "every-run",
        /// Kept: all runs are made on the same data.
        Never = "never",
    }
}

words! {
    /// Waits of users: `workload.pacing`.
    LoadPacing {
        /// No waits: a user begins its next operation as soon as it is free.
        Saturated = "saturated",
        /// Keying and think times.
        Paced = "paced",
    }
}

impl WhenRefused {
    /// Path of the setting.
    pub const PATH: &str = "limits.when_refused";

    /// Tells whether these settings let a study run without limits that the machine does not allow.
    pub fn allows_without(settings: &Settings) -> bool {
        settings.text(Self::PATH).ok().and_then(Self::of) == Some(Self::Without)
    }
}

impl RunOrder {
    /// Path of the setting.
    pub const PATH: &str = "study.order";

    /// Tells whether these settings keep the points in the order of their levels.
    pub fn is_given(settings: &Settings) -> bool {
        settings.text(Self::PATH).ok().and_then(Self::of) == Some(Self::Given)
    }
}

impl RestorePolicy {
    /// Path of the setting.
    pub const PATH: &str = "procedure.restore";

    /// The policy that a value of the setting names; `None` for any other value.
    pub fn of_value(value: &Value) -> Option<Self> {
        match value {
            Value::Text(word) => Self::of(word),
            _ => None,
        }
    }
}

impl LoadPacing {
    /// Path of the setting.
    pub const PATH: &str = "workload.pacing";

    /// The pacing of these settings; `None` where the workload has none.
    pub fn of_settings(settings: &Settings) -> Option<Self> {
        settings.text(Self::PATH).ok().and_then(Self::of)
    }

    /// Tells whether users wait in these settings.
    pub fn is_paced(settings: &Settings) -> bool {
        Self::of_settings(settings) == Some(Self::Paced)
    }

    /// The pacing that a value of the setting names; `None` for any other value.
    pub fn of_value(value: &Value) -> Option<Self> {
        match value {
            Value::Text(word) => Self::of(word),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::STANDARD;

    fn with(path: &str, word: &str) -> Settings {
        Settings([(path.to_owned(), Value::Text(word.to_owned()))].into())
    }

    #[test]
    fn each_word_is_read_as_what_it_stands_for() {
        assert!(WhenRefused::allows_without(&with(WhenRefused::PATH, "without")));
        assert!(!WhenRefused::allows_without(&with(WhenRefused::PATH, "fail")));
        assert!(!WhenRefused::allows_without(&Settings::default()));
        assert!(RunOrder::is_given(&with(RunOrder::PATH, "given")) && !RunOrder::is_given(&Settings::default()));
        assert!(
            LoadPacing::is_paced(&with(LoadPacing::PATH, "paced"))
                && !LoadPacing::is_paced(&with(LoadPacing::PATH, "saturated"))
        );
        assert_eq!(LoadPacing::of_settings(&Settings::default()), None);
        let restore = |word: &str| RestorePolicy::of_value(&Value::Text(word.to_owned()));
        assert_eq!(restore("every-run"), Some(RestorePolicy::EveryRun));
        assert_eq!((restore("never"), restore("often")), (Some(RestorePolicy::Never), None));
    }

    #[test]
    fn their_settings_are_in_the_table() {
        for path in [WhenRefused::PATH, RunOrder::PATH, RestorePolicy::PATH] {
            assert!(STANDARD.iter().any(|spec| spec.path == path), "{path}");
        }
    }
}
