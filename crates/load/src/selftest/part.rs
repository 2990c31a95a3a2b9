//! Parts of the self-test and the steps that they tell. May not know any part by name.

use super::bench::Bench;
use proofload_engine::Engine;
use proofload_model::error::Error;

/// How a step ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StepOutcome {
    /// It holds.
    Passed,
    /// It does not hold, with what came back.
    Failed(String),
    /// It was not looked, for this reason.
    Skipped(String),
}

/// A step that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SelftestStep {
    /// What must hold, in words.
    pub name: String,
    /// How it ended.
    pub outcome: StepOutcome,
    /// Content hashes that it found: of what, and the hash.
    pub hashes: Vec<(String, String)>,
}

/// Takes the steps of a part as they end.
pub struct Steps<'a> {
    told: &'a mut dyn FnMut(SelftestStep),
}

impl std::fmt::Debug for Steps<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Steps")
    }
}

impl<'a> Steps<'a> {
    /// Steps that are told to this function.
    pub fn new(told: &'a mut dyn FnMut(SelftestStep)) -> Self {
        Self { told }
    }

    /// Tells how a step ended: passed, or failed by its error.
    pub fn end(&mut self, name: &str, outcome: Result<(), Error>) {
        self.end_with(name, outcome, Vec::new());
    }

    /// The same with hashes.
    pub fn end_with(&mut self, name: &str, outcome: Result<(), Error>, hashes: Vec<(String, String)>) {
        let outcome = outcome.map_or_else(|error| StepOutcome::Failed(error.to_string()), |()| StepOutcome::Passed);
        (self.told)(SelftestStep { name: name.to_owned(), outcome, hashes });
    }

    /// Tells that a step was skipped, and why.
    pub fn skip(&mut self, name: &str, why: impl Into<String>) {
        (self.told)(SelftestStep {
            name: name.to_owned(),
            outcome: StepOutcome::Skipped(why.into()),
            hashes: Vec::new(),
        });
    }
}

/// A part of the self-test. Each is given an empty database of its own.
pub struct SelftestPart {
    /// What it is about; begins the names of its steps.
    pub name: &'static str,
    /// Why it does not apply to an engine; `None` where it does.
    pub lacking: fn(&dyn Engine) -> Option<String>,
    /// Does it. An error ends the part and is told as its last step.
    pub run: fn(&Bench, &mut Steps<'_>) -> Result<(), Error>,
}

impl std::fmt::Debug for SelftestPart {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SelftestPart").field("name", &self.name).finish_non_exhaustive()
    }
}

impl SelftestPart {
    /// Runs the part, or tells why it does not apply.
    pub fn tell(&self, bench: &Bench, told: &mut dyn FnMut(SelftestStep)) {
        let mut steps = Steps::new(told);
        if let Some(why) = (self.lacking)(bench.engine) {
            return steps.skip(self.name, why);
        }
        if let Err(error) = (self.run)(bench, &mut steps) {
            steps.end(self.name, Err(error));
        }
    }
}

/// Why an engine without SQL sessions, or one that keeps no data, is left out.
pub(crate) fn needs_sql(engine: &dyn Engine) -> Option<String> {
    let capabilities = engine.facts().capabilities;
    match (capabilities.sql, capabilities.durable) {
        (_, false) => Some("the engine keeps no data".to_owned()),
        (false, _) => Some("the engine has no SQL sessions".to_owned()),
        _ => None,
    }
}
