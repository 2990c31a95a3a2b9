//! Reads a study file's text into a study, or reports all its faults at once.

use super::fault::{Fault, nearest};
use super::read::{Assignment, FactorText, ParsedStudy, take_apart};
use crate::catalogue::Catalogue;
use crate::settings::{Scope, SettingSpec, Settings, Value, limit_settings};
use serde::{Deserialize, Serialize};

/// A setting that varies between points.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Factor {
    /// Path of the setting.
    pub setting: String,
    /// Its values, in the order of the file.
    pub levels: Vec<Value>,
}

/// A valid study, resolved: every setting that has a default has a value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Study {
    /// The settings of the base point.
    pub settings: Settings,
    /// What varies.
    pub factors: Vec<Factor>,
}

impl Study {
    /// `study.name`.
    pub fn name(&self) -> &str {
        self.settings.text("study.name").unwrap_or_default()
    }

    /// `study.title`.
    pub fn title(&self) -> &str {
        self.settings.text("study.title").unwrap_or_default()
    }

    /// `study.repetitions`.
    pub fn repetitions(&self) -> u32 {
        self.settings.count("study.repetitions").unwrap_or(1)
    }

    /// `study.seed`.
    pub fn seed(&self) -> u64 {
        self.settings.integer("study.seed").map_or(1, i64::unsigned_abs)
    }
}

/// What `--set` gives a limit that shall be left out.
const NO_LIMIT: &str = "none";

/// Checks a study file with the assignments of `--set` laid over it. Faults come in the order of the file.
pub fn validate(text: &str, overrides: &[Assignment], catalogue: &Catalogue) -> Result<Study, Vec<Fault>> {
    let mut parsed = take_apart(text);
    if parsed.assignments.is_empty() && parsed.factors.is_empty() && !parsed.faults.is_empty() {
        return Err(parsed.faults);
    }
    lay_over(&mut parsed, overrides);
    let kinds = Kinds::of(&parsed);
    let mut faults = std::mem::take(&mut parsed.faults);
    let mut settings = Settings::default();
    let known = |path: &str| catalogue.settings().any(|spec| spec.path.starts_with(&format!("{path}.")));
    for (path, line) in parsed.empty_tables.iter().filter(|(path, _)| !known(path)) {
        faults.push(unknown(path, *line, catalogue));
    }
    for assignment in &parsed.assignments {
        read_setting(assignment, (catalogue, &kinds), &mut settings, &mut faults);
    }
    let factors = parsed
        .factors
        .iter()
        .filter_map(|factor| read_factor(factor, (catalogue, &kinds), &mut faults))
        .collect::<Vec<_>>();
    let source = StudySource { parsed: &parsed, catalogue, kinds: &kinds };
    source.repeated_factors(&factors, &mut faults);
    super::search::check(&source, &factors, &mut settings, &mut faults);
    fill_defaults(&mut settings, &factors, (catalogue, &kinds), &mut faults);
    source.kinds(&settings, &factors, &mut faults);
    source.scopes(&settings, &mut faults);
    let study = Study { settings, factors };
    // A fault that leaves its setting a value, or is of no setting at all, hides no contradiction.
    let is_harmless = |fault: &Fault| {
        !fault.key.is_empty()
            && (study.settings.get(&fault.key).is_some() || find(catalogue, &fault.key, &kinds).is_none())
    };
    if faults.iter().all(is_harmless) {
        super::contradictions::find_all(&study, &source, &mut faults);
    }
    faults.sort_by_key(|fault| fault.line.unwrap_or(usize::MAX));
    if faults.is_empty() { Ok(study) } else { Err(faults) }
}

/// `--set` replaces the assignment of the same path; a factor's setting replaced this way is no factor any more.
/// `factor.<setting>=[levels]` replaces the levels of a factor.
fn lay_over(parsed: &mut ParsedStudy, overrides: &[Assignment]) {
    for change in overrides {
        if let Some(setting) = change.path.strip_prefix("factor.") {
            set_levels(parsed, setting, change);
            continue;
        }
        lay_over_search(parsed, &change.path);
        parsed.assignments.retain(|assignment| assignment.path != change.path);
        parsed.factors.retain(|factor| factor_setting(factor) != Some(&change.path));
        if !takes_a_limit_away(change) {
            parsed.assignments.push(change.clone());
        }
    }
}

/// `limits.memory=none` and its like leave a limit out.
fn takes_a_limit_away(change: &Assignment) -> bool {
    change.value.as_str() == Some(NO_LIMIT) && limit_settings().any(|spec| spec.path == change.path)
}

/// A load that is given this way is not searched any more; a goal given this way takes the place of the other.
fn lay_over_search(parsed: &mut ParsedStudy, path: &str) {
    let searched = |key: &Assignment| key.path == "search.setting" && key.value.as_str() == Some(path);
    if parsed.assignments.iter().any(searched) {
        parsed.assignments.retain(|key| !key.path.starts_with("search."));
    }
    if path.starts_with("search.find") {
        parsed.assignments.retain(|key| !key.path.starts_with("search.find"));
    }
}

/// Replaces or adds the factor of a setting.
fn set_levels(parsed: &mut ParsedStudy, setting: &str, change: &Assignment) {
    parsed.factors.retain(|factor| factor_setting(factor) != Some(setting));
    let key = |path: &str, value| Assignment { path: path.to_owned(), line: None, value };
    parsed.factors.push(FactorText {
        line: None,
        keys: vec![key("setting", setting.into()), key("levels", change.value.clone())],
    });
}

/// The setting that a factor names.
fn factor_setting(factor: &FactorText) -> Option<&str> {
    factor.keys.iter().find(|key| key.path == "setting").and_then(|key| key.value.as_str())
}

/// Reads one assignment into the settings.
fn read_setting(
    assignment: &Assignment,
    (catalogue, kinds): (&Catalogue, &Kinds),
    settings: &mut Settings,
    faults: &mut Vec<Fault>,
) {
    let Assignment { path, line, value } = assignment;
    let Some(spec) = find(catalogue, path, kinds) else {
        faults.push(unknown(path, *line, catalogue));
        return;
    };
    match spec.kind.read(value) {
        Ok(value) => {
            settings.0.insert(path.clone(), value);
        }
        Err(reason) => {
            faults.push(Fault { line: *line, key: path.clone(), reason, suggestion: near_word(spec, value) })
        }
    }
}

/// The workloads and engines that a study names, as written.
#[derive(Debug, Default)]
struct Kinds {
    workloads: Vec<String>,
    engines: Vec<String>,
}

impl Kinds {
    /// The scopes of the settings and of the factors' levels.
    fn of(parsed: &ParsedStudy) -> Self {
        let named = |path: &str| -> Vec<String> {
            let assigned = parsed.assignments.iter().filter(|key| key.path == path).map(|key| &key.value);
            let factors = parsed.factors.iter().filter(|factor| factor_setting(factor) == Some(path));
            let lists = factors.flat_map(|factor| factor.keys.iter().filter(|key| key.path == "levels"));
            let levels = lists.filter_map(|key| key.value.as_array()).flatten();
            assigned.chain(levels).filter_map(|value| value.as_str().map(str::to_owned)).collect()
        };
        Self { workloads: named("workload.kind"), engines: named("engine.kind") }
    }

    /// Whether a setting of this scope applies.
    fn have(&self, scope: Scope) -> bool {
        let has = |kinds: &[String], name: &str| kinds.iter().any(|kind| kind == name);
        match scope {
            Scope::Always => true,
            Scope::Workload(name) => has(&self.workloads, name),
            Scope::Engine(name) => has(&self.engines, name),
        }
    }
}

/// The specification of a path: several workloads or engines may have one of the same path, and the study's own counts.
fn find<'a>(catalogue: &'a Catalogue, path: &str, kinds: &Kinds) -> Option<&'a SettingSpec> {
    let mut known = catalogue.settings().filter(|spec| spec.matches(path)).peekable();
    let first = known.peek().copied();
    known.find(|spec| kinds.have(spec.scope)).or(first)
}

/// The fault of an unknown key.
fn unknown(path: &str, line: Option<usize>, catalogue: &Catalogue) -> Fault {
    let suggestion = nearest(path, catalogue.settings().map(|spec| spec.path));
    Fault { line, key: path.to_owned(), reason: "this setting is not known".to_owned(), suggestion }
}

/// The nearest word of a choice.
fn near_word(spec: &SettingSpec, value: &toml_edit::Value) -> Option<String> {
    match spec.kind {
        crate::settings::Kind::OneOf(words) => {
            nearest(value.as_str()?, words.iter().copied()).map(|word| format!("{word:?}"))
        }
        _ => None,
    }
}

/// Reads one factor.
fn read_factor(
    factor: &FactorText,
    (catalogue, kinds): (&Catalogue, &Kinds),
    faults: &mut Vec<Fault>,
) -> Option<Factor> {
    let fault = |line, key: &str, reason: String, suggestion| Fault { line, key: key.to_owned(), reason, suggestion };
    for key in factor.keys.iter().filter(|key| !["setting", "levels"].contains(&key.path.as_str())) {
        let near = nearest(&key.path, ["setting", "levels"].into_iter());
        faults.push(fault(
            key.line,
            &format!("factor.{}", key.path),
            "a factor has only setting and levels".to_owned(),
            near,
        ));
    }
    let levels = factor.keys.iter().find(|key| key.path == "levels");
    let (Some(setting), Some(levels)) = (factor_setting(factor), levels) else {
        faults.push(fault(
            factor.line,
            "factor",
            "a factor needs setting (a text) and levels (a list)".to_owned(),
            None,
        ));
        return None;
    };
    let Some(spec) = find(catalogue, setting, kinds) else {
        faults.push(unknown(setting, factor.line, catalogue));
        return None;
    };
    if !spec.factor {
        faults.push(fault(
            factor.line,
            setting,
            "this setting is the same for all points and cannot be a factor".to_owned(),
            None,
        ));
        return None;
    }
    let Some(items) = levels.value.as_array().filter(|items| !items.is_empty()) else {
        faults.push(fault(levels.line, setting, "levels must be a list of at least one value".to_owned(), None));
        return None;
    };
    let mut values: Vec<Value> = Vec::new();
    for item in items {
        match spec.kind.read(item) {
            Ok(value) if values.contains(&value) => {
                let twice = fault(levels.line, setting, format!("level {value} stands twice"), None);
                if !faults.contains(&twice) {
                    faults.push(twice);
                }
            }
            Ok(value) => values.push(value),
            Err(reason) => faults.push(fault(levels.line, setting, reason, near_word(spec, item))),
        }
    }
    Some(Factor { setting: setting.to_owned(), levels: values })
}

/// Defaults for what is not given; faults for what must be.
fn fill_defaults(
    settings: &mut Settings,
    factors: &[Factor],
    (catalogue, kinds): (&Catalogue, &Kinds),
    faults: &mut Vec<Fault>,
) {
    for spec in catalogue.settings() {
        let varied = factors.iter().find(|factor| factor.setting == spec.path);
        if !kinds.have(spec.scope) || settings.get(spec.path).is_some() {
            continue;
        }
        if let Some(level) = varied.and_then(|factor| factor.levels.first()) {
            settings.0.insert(spec.path.to_owned(), level.clone());
        } else if let Some(default) = spec.default {
            let value = spec.kind.read_text(default).expect("the table's defaults are valid, which a test checks");
            settings.0.insert(spec.path.to_owned(), value);
        } else if spec.required
            && settings.text("search.setting") != Ok(spec.path)
            && !faults.iter().any(|fault| fault.key == spec.path)
        {
            let reason = format!("must be given: {}", spec.about);
            faults.push(Fault { line: None, key: spec.path.to_owned(), reason, suggestion: None });
        }
    }
}

/// A study as given, for the checks that need lines.
pub(super) struct StudySource<'a> {
    parsed: &'a ParsedStudy,
    catalogue: &'a Catalogue,
    kinds: &'a Kinds,
}

impl StudySource<'_> {
    /// The line where a setting stands, or its factor.
    pub(super) fn line(&self, path: &str) -> Option<usize> {
        let assigned = self
            .parsed
            .assignments
            .iter()
            .find(|assignment| assignment.path == path)
            .and_then(|assignment| assignment.line);
        assigned.or_else(|| {
            self.parsed
                .factors
                .iter()
                .find(|factor| factor_setting(factor) == Some(path))
                .and_then(|factor| factor.line)
        })
    }

    /// Whether the study, or `--set`, gives this setting a value or levels.
    pub(super) fn is_given(&self, path: &str) -> bool {
        self.parsed.assignments.iter().any(|assignment| assignment.path == path)
            || self.parsed.factors.iter().any(|factor| factor_setting(factor) == Some(path))
    }

    /// The paths that are assigned.
    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        self.parsed.assignments.iter().map(|assignment| assignment.path.as_str())
    }

    /// The specification of a load of this study's workloads.
    pub(super) fn load_setting(&self, path: &str) -> Option<&SettingSpec> {
        find(self.catalogue, path, self.kinds).filter(|spec| spec.load && self.kinds.have(spec.scope))
    }

    /// Every load of this study's workloads.
    pub(super) fn load_settings(&self) -> Vec<&'static str> {
        self.catalogue
            .settings()
            .filter(|spec| spec.load && self.kinds.have(spec.scope))
            .map(|spec| spec.path)
            .collect()
    }

    /// Kinds of operations of the study's workload; `None` when there is no such workload.
    pub(super) fn operations(&self) -> Option<&'static [&'static str]> {
        let name = self.kinds.workloads.first()?;
        Some((self.catalogue.workload(name)?.operations)())
    }

    /// The catalogue.
    pub(super) fn catalogue(&self) -> &Catalogue {
        self.catalogue
    }

    /// One factor per setting.
    fn repeated_factors(&self, factors: &[Factor], faults: &mut Vec<Fault>) {
        for (index, factor) in factors.iter().enumerate() {
            if factors[..index].iter().any(|earlier| earlier.setting == factor.setting) {
                let reason = "two factors vary this setting".to_owned();
                let lines = self.parsed.factors.iter().filter(|of| factor_setting(of) == Some(&factor.setting));
                faults.push(Fault {
                    line: lines.into_iter().next_back().and_then(|of| of.line),
                    key: factor.setting.clone(),
                    reason,
                    suggestion: None,
                });
            }
        }
    }

    /// Engines and workloads that are built in.
    fn kinds(&self, settings: &Settings, factors: &[Factor], faults: &mut Vec<Fault>) {
        let engines: Vec<&str> = self.catalogue.engines.iter().map(|engine| engine.name).collect();
        let workloads: Vec<&str> = self.catalogue.workloads.iter().map(|workload| workload.name).collect();
        for (path, known, what) in [("engine.kind", engines, "engine"), ("workload.kind", workloads, "workload")] {
            for name in values_of(path, settings, factors) {
                let name = name.to_string();
                if !known.contains(&name.as_str()) {
                    let reason = format!("there is no {what} {name:?}; built in: {}", known.join(", "));
                    faults.push(Fault {
                        line: self.line(path),
                        key: path.to_owned(),
                        reason,
                        suggestion: nearest(&name, known.iter().copied()),
                    });
                }
            }
        }
    }

    /// Settings of an engine or workload that is not the study's.
    fn scopes(&self, settings: &Settings, faults: &mut Vec<Fault>) {
        for path in settings.0.keys().filter(|path| self.line(path).is_some()) {
            let scope = find(self.catalogue, path, self.kinds).map(|spec| spec.scope);
            let reason = match scope.filter(|scope| !self.kinds.have(*scope)) {
                Some(Scope::Workload(name)) => format!("belongs to the workload {name}, which this study does not run"),
                Some(Scope::Engine(name)) => format!("belongs to the engine {name}, which this study does not use"),
                Some(Scope::Always) | None => continue,
            };
            faults.push(Fault { line: self.line(path), key: path.clone(), reason, suggestion: None });
        }
    }
}

/// All values that a setting takes in a study: its levels, or its one value.
pub(super) fn values_of<'a>(path: &str, settings: &'a Settings, factors: &'a [Factor]) -> Vec<&'a Value> {
    match factors.iter().find(|factor| factor.setting == path) {
        Some(factor) => factor.levels.iter().collect(),
        None => settings.get(path).into_iter().collect(),
    }
}
