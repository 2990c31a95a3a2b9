//! Reads a study file's text into a study, or reports all its faults at once.

use super::factor::{Factor, values_of};
use super::factor_rules::{read_factor, sets_the_same, two_factors};
use super::fault::{Fault, nearest, nearest_setting};
use super::read::{Assignment, FactorText, ParsedStudy, take_apart};
use super::typed::{THREAD, THREAD_ON};
use super::word_rules::lay_over_words;
use crate::catalogue::Catalogue;
use crate::intervention::THREAD_CPU;
use crate::settings::{Scope, SettingSpec, Settings, limit_settings, setting};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

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
        self.settings.text(setting::STUDY_NAME).unwrap_or_default()
    }

    /// `study.title`.
    pub fn title(&self) -> &str {
        self.settings.text(setting::STUDY_TITLE).unwrap_or_default()
    }

    /// `study.repetitions`, at least one: the study of a record from elsewhere was not validated here.
    pub fn repetitions(&self) -> u32 {
        self.settings.count(setting::STUDY_REPETITIONS).unwrap_or(1).max(1)
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
    lay_over(&mut parsed, overrides, catalogue);
    let kinds = Kinds::of(&parsed);
    let mut faults = std::mem::take(&mut parsed.faults);
    let mut settings = Settings::default();
    let known = |path: &str| catalogue.settings().any(|spec| spec.path.starts_with(&format!("{path}.")));
    for (path, line) in parsed.empty_tables.iter().filter(|(path, _)| !known(path)) {
        faults.push(unknown(path, *line, catalogue, faults.len()));
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
    two_factors(&factors, &parsed.factors, &mut faults);
    super::search::check(&source, &factors, &mut settings, &mut faults);
    fill_defaults(&mut settings, &factors, (catalogue, &kinds), &mut faults);
    sets_the_same(&factors, &parsed.factors, &settings, &mut faults);
    source.kinds(&settings, &factors, &mut faults);
    source.scopes(&settings, &factors, &mut faults);
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

/// `--set` replaces the assignment of the same path; a factor's setting replaced this way is no factor any more, and no part of a group.
/// `factor.<setting>=[levels]` replaces the levels of a factor.
fn lay_over(parsed: &mut ParsedStudy, overrides: &[Assignment], catalogue: &Catalogue) {
    for change in overrides {
        if let Some(setting) = change.path.strip_prefix("factor.") {
            lay_over_words(parsed, (setting, &change.value), catalogue);
            set_levels(parsed, setting, change);
            continue;
        }
        lay_over_search(parsed, &change.path);
        lay_over_words(parsed, (&change.path, &change.value), catalogue);
        parsed.assignments.retain(|assignment| assignment.path != change.path);
        leave_out(parsed, &change.path);
        if !takes_a_limit_away(change) {
            parsed.assignments.push(change.clone());
        } else if change.path == THREAD_CPU {
            // The role is of no use without its limit.
            parsed.assignments.retain(|assignment| ![THREAD, THREAD_ON].contains(&assignment.path.as_str()));
        }
    }
}

/// Settings that vary in a study file and that `--set` gives one value, so that they vary no more. A limit that is left out is not one of
/// them.
pub fn factors_left_out(text: &str, overrides: &[Assignment]) -> Vec<String> {
    let factors = take_apart(text).factors;
    let is_left_out =
        |change: &&Assignment| !takes_a_limit_away(change) && factors.iter().any(|factor| factor.gives(&change.path));
    overrides.iter().filter(is_left_out).map(|change| change.path.clone()).collect()
}

/// `limits.memory=none` and its like leave a limit out.
fn takes_a_limit_away(change: &Assignment) -> bool {
    change.value.as_str() == Some(NO_LIMIT) && limit_settings().any(|spec| spec.path == change.path)
}

/// A load that is given this way is not searched any more; a goal given this way takes the place of the other.
fn lay_over_search(parsed: &mut ParsedStudy, path: &str) {
    let searched = |key: &Assignment| key.path == setting::SEARCH_SETTING && key.value.as_str() == Some(path);
    if parsed.assignments.iter().any(searched) {
        parsed.assignments.retain(|key| !key.path.starts_with("search."));
    }
    if path.starts_with("search.find") {
        parsed.assignments.retain(|key| !key.path.starts_with("search.find"));
    }
}

/// Replaces or adds the factor of a setting.
fn set_levels(parsed: &mut ParsedStudy, setting: &str, change: &Assignment) {
    leave_out(parsed, setting);
    let key = |path: &str, value| Assignment { path: path.to_owned(), line: None, value };
    let keys = vec![key("setting", setting.into()), key("levels", change.value.clone())];
    parsed.factors.push(FactorText::of(keys, None));
}

/// Drops the factor of a setting, and the setting from groups.
fn leave_out(parsed: &mut ParsedStudy, setting: &str) {
    parsed.factors.retain_mut(|factor| factor.leave_out(setting));
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
        faults.push(unknown(path, *line, catalogue, faults.len()));
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
pub(super) struct Kinds {
    workloads: Vec<String>,
    engines: Vec<String>,
}

impl Kinds {
    /// The scopes of the settings and of the factors' levels.
    fn of(parsed: &ParsedStudy) -> Self {
        let named = |path: &str| -> Vec<String> {
            let assigned = parsed.assignments.iter().filter(|key| key.path == path).map(|key| &key.value);
            let levels = parsed.factors.iter().flat_map(|factor| factor.values(path)).map(|(_, value)| value);
            assigned.chain(levels).filter_map(|value| value.as_str().map(str::to_owned)).collect()
        };
        Self { workloads: named(setting::WORKLOAD_KIND), engines: named(setting::ENGINE_KIND) }
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
pub(super) fn find<'a>(catalogue: &'a Catalogue, path: &str, kinds: &Kinds) -> Option<&'a SettingSpec> {
    let mut known = catalogue.settings().filter(|spec| spec.matches(path)).peekable();
    let first = known.peek().copied();
    known.find(|spec| kinds.have(spec.scope)).or(first)
}

/// Most faults of a study of which an unknown key gets a suggestion: each is compared with every setting.
const MOST_SUGGESTED: usize = 20;

/// The fault of an unknown key, behind `earlier` others.
pub(super) fn unknown(path: &str, line: Option<usize>, catalogue: &Catalogue, earlier: usize) -> Fault {
    let is_below = |spec: &&SettingSpec| spec.path.strip_prefix(path).is_some_and(|rest| rest.starts_with('.'));
    let kind = format!("{path}.kind");
    let below = || catalogue.settings().filter(is_below);
    if let Some(first) = below().find(|spec| spec.path == kind).or_else(|| below().next()) {
        let reason = "is a table of settings and takes no value".to_owned();
        return Fault { line, key: path.to_owned(), reason, suggestion: Some(first.path.replace('*', "name")) };
    }
    let suggested = earlier < MOST_SUGGESTED;
    let known = || catalogue.settings().map(|spec| spec.path).collect::<Vec<_>>();
    let suggestion = suggested.then(|| nearest_setting(path, &known())).flatten();
    Fault { line, key: path.to_owned(), reason: "unknown setting".to_owned(), suggestion }
}

/// The only kind whose title has this word: `tprocc` for "oltp".
fn entitled(word: &str, known: &[(&str, &str)]) -> Option<String> {
    let is_between = |letter: char| !letter.is_alphanumeric() && letter != '-';
    let has_word = |title: &str| title.split(is_between).any(|one| one.eq_ignore_ascii_case(word));
    let mut found = known.iter().filter(|(_, title)| has_word(title)).map(|(name, _)| (*name).to_owned());
    found.next().filter(|_| found.next().is_none())
}

/// The nearest word of a choice.
pub(super) fn near_word(spec: &SettingSpec, value: &toml_edit::Value) -> Option<String> {
    match spec.kind {
        crate::settings::Kind::OneOf(words) => {
            nearest(value.as_str()?, words.iter().copied()).map(|word| format!("{word:?}"))
        }
        _ => None,
    }
}

/// Defaults for what is not given; faults for what must be.
fn fill_defaults(
    settings: &mut Settings,
    factors: &[Factor],
    (catalogue, kinds): (&Catalogue, &Kinds),
    faults: &mut Vec<Fault>,
) {
    for spec in catalogue.settings() {
        if !kinds.have(spec.scope) || settings.get(spec.path).is_some() {
            continue;
        }
        let varied = factors.iter().find(|factor| factor.varies(spec.path));
        // What only some levels of a group assign has no value at the others but its default.
        if let Some(first) = varied.filter(|factor| factor.values(spec.path).all(|value| value.is_some())) {
            settings
                .0
                .extend(first.values(spec.path).flatten().next().map(|value| (spec.path.to_owned(), value.clone())));
        } else if let Some(default) = spec.default {
            let value = spec.kind.read_text(default).expect("the table's defaults are valid, which a test checks");
            settings.0.insert(spec.path.to_owned(), value);
        } else if spec.required
            && settings.text(setting::SEARCH_SETTING) != Ok(spec.path)
            && !faults.iter().any(|fault| fault.key == spec.path)
        {
            faults.push(Fault::new(None, spec.path, format!("is required: {}", spec.about)));
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
        assigned.or_else(|| self.parsed.factors.iter().find_map(|factor| factor.line_of(path)))
    }

    /// Whether the study, or `--set`, gives this setting a value or levels.
    pub(super) fn is_given(&self, path: &str) -> bool {
        self.parsed.assignments.iter().any(|assignment| assignment.path == path)
            || self.parsed.factors.iter().any(|factor| factor.gives(path))
    }

    /// The paths that are assigned.
    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        self.parsed.assignments.iter().map(|assignment| assignment.path.as_str())
    }

    /// The specification of a setting of this study's workloads and engines.
    pub(super) fn setting(&self, path: &str) -> Option<&SettingSpec> {
        find(self.catalogue, path, self.kinds).filter(|spec| self.kinds.have(spec.scope))
    }

    /// The specification of a load of this study's workloads.
    pub(super) fn load_setting(&self, path: &str) -> Option<&SettingSpec> {
        self.setting(path).filter(|spec| spec.load)
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

    /// Engines and workloads that are built in.
    fn kinds(&self, settings: &Settings, factors: &[Factor], faults: &mut Vec<Fault>) {
        let engines = self.catalogue.engines.iter().map(|engine| (engine.name, engine.title)).collect();
        let workloads = self.catalogue.workloads.iter().map(|workload| (workload.name, workload.title)).collect();
        let kinds: [(_, Vec<(&str, &str)>, _); 2] =
            [(setting::ENGINE_KIND, engines, "engine"), (setting::WORKLOAD_KIND, workloads, "workload")];
        for (path, known, what) in kinds {
            let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
            for name in values_of(path, settings, factors) {
                let name = name.to_string();
                if !names.contains(&name.as_str()) {
                    let reason = format!("unknown {what} {name:?}; built in: {}", names.join(", "));
                    let suggestion = nearest(&name, names.iter().copied()).or_else(|| entitled(&name, &known));
                    faults.push(Fault { line: self.line(path), key: path.to_owned(), reason, suggestion });
                }
            }
        }
    }

    /// Whether all kinds that a study names are built in; what it sets for others says nothing of its settings.
    fn knows_kinds(&self, scope: Scope) -> bool {
        match scope {
            Scope::Always => true,
            Scope::Workload(_) => self.kinds.workloads.iter().all(|name| self.catalogue.workload(name).is_some()),
            Scope::Engine(_) => self.kinds.engines.iter().all(|name| self.catalogue.engine(name).is_some()),
        }
    }

    /// Settings of an engine or workload that is not the study's.
    fn scopes(&self, settings: &Settings, factors: &[Factor], faults: &mut Vec<Fault>) {
        let varied = factors.iter().flat_map(Factor::paths);
        let given: BTreeSet<String> = settings.0.keys().cloned().chain(varied).collect();
        for path in given.iter().filter(|path| self.line(path).is_some()) {
            let scope = find(self.catalogue, path, self.kinds).map(|spec| spec.scope);
            let strange = scope.filter(|scope| !self.kinds.have(*scope) && self.knows_kinds(*scope));
            let reason = match strange {
                Some(Scope::Workload(name)) => {
                    format!("belongs to the workload {name}, which this study does not use; remove it")
                }
                Some(Scope::Engine(name)) => {
                    format!("belongs to the engine {name}, which this study does not use; remove it")
                }
                Some(Scope::Always) | None => continue,
            };
            faults.push(Fault::new(self.line(path), path, reason));
        }
    }
}
