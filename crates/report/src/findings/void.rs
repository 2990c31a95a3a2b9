//! Why a run is void: the reason in words and its class, from which exit codes follow.

use std::fmt;

/// Classes of reasons, the gravest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum VoidClass {
    /// A limit, a count, a check or the record itself does not hold.
    Verification,
    /// Never settled, or drifted or jumped inside the window.
    NotSteady,
    /// The load generator was the limit.
    GeneratorBound,
}

/// One reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Void {
    /// Its class.
    pub class: VoidClass,
    /// What was found, a lower-case fragment.
    pub text: String,
}

impl Void {
    /// A limit, a count, a check or the record does not hold.
    pub(super) fn verification(text: impl Into<String>) -> Self {
        Self { class: VoidClass::Verification, text: text.into() }
    }

    /// A load that was not steady.
    pub(super) fn not_steady(text: impl Into<String>) -> Self {
        Self { class: VoidClass::NotSteady, text: text.into() }
    }

    /// The generator was the limit.
    pub(super) fn generator(text: impl Into<String>) -> Self {
        Self { class: VoidClass::GeneratorBound, text: text.into() }
    }

    /// The same reason, with the runs that it belongs to, by their repetition from 0.
    pub(super) fn of_runs(&self, repetitions: &[u32]) -> Self {
        let numbers: Vec<String> = repetitions.iter().map(|repetition| (repetition + 1).to_string()).collect();
        let word = if numbers.len() == 1 { "run" } else { "runs" };
        Self { class: self.class, text: format!("{word} {}: {}", numbers.join(", "), self.text) }
    }
}

impl fmt::Display for Void {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
