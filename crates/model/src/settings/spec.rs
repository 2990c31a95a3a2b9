//! What is known of one setting. May not read study files.

use super::kind::Kind;

/// When a setting may be given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Always.
    Always,
    /// Only with this `workload.kind`.
    Workload(&'static str),
    /// Only with this `engine.kind`.
    Engine(&'static str),
}

/// One word of a setting that has several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SettingWord {
    /// Path of the setting.
    pub setting: &'static str,
    /// Its word, as a study file writes it without quotes.
    pub word: &'static str,
}

/// One key of a study file.
#[derive(Debug, Clone, Copy)]
pub struct SettingSpec {
    /// Dotted path, such as `procedure.warm_up.at_least`. A path that ends in `.*` stands for any key below it.
    pub path: &'static str,
    /// What values it takes.
    pub kind: Kind,
    /// Default as a study file would write it (without quotes); `None` when there is no value unless given.
    pub default: Option<&'static str>,
    /// Whether a study must give it.
    pub required: bool,
    /// Whether it may be a factor. False for what must not differ between points, such as the study's name.
    pub factor: bool,
    /// Whether it says how much load there is, so that a search may look for its value.
    pub load: bool,
    /// When it applies.
    pub scope: Scope,
    /// Word of another setting beside which alone it is used; `None`: beside any.
    pub beside: Option<SettingWord>,
    /// Title in running text, where it is often a factor; `None`: shown by its path.
    pub title: Option<&'static str>,
    /// One or two sentences with unit and range.
    pub about: &'static str,
}

impl SettingSpec {
    /// A setting with a default that may be a factor.
    pub const fn new(path: &'static str, kind: Kind, default: &'static str, about: &'static str) -> Self {
        Self {
            path,
            kind,
            default: Some(default),
            required: false,
            factor: true,
            load: false,
            scope: Scope::Always,
            beside: None,
            title: None,
            about,
        }
    }

    /// A setting that has no value unless it is given.
    pub const fn optional(path: &'static str, kind: Kind, about: &'static str) -> Self {
        Self { default: None, ..Self::new(path, kind, "", about) }
    }

    /// A setting that a study must give.
    pub const fn required(path: &'static str, kind: Kind, about: &'static str) -> Self {
        Self { required: true, ..Self::optional(path, kind, about) }
    }

    /// The same, the same for all points.
    #[must_use]
    pub const fn fixed(mut self) -> Self {
        self.factor = false;
        self
    }

    /// The same, as a load that a search may look for.
    #[must_use]
    pub const fn load(mut self) -> Self {
        self.load = true;
        self
    }

    /// The same with a title.
    #[must_use]
    pub const fn titled(mut self, title: &'static str) -> Self {
        self.title = Some(title);
        self
    }

    /// The same, only for one scope.
    #[must_use]
    pub const fn only(mut self, scope: Scope) -> Self {
        self.scope = scope;
        self
    }

    /// The same, used only beside one word of another setting.
    #[must_use]
    pub const fn beside(mut self, word: SettingWord) -> Self {
        self.beside = Some(word);
        self
    }

    /// Whether this setting covers `path`.
    pub fn matches(&self, path: &str) -> bool {
        match self.path.strip_suffix('*') {
            Some(prefix) => path.len() > prefix.len() && path.starts_with(prefix) && !path.ends_with('.'),
            None => self.path == path,
        }
    }
}
