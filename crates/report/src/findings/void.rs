//! Why a run is void: the reason in words and its class, from which exit codes follow.

use std::fmt;

/// Classes of reasons, the gravest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum VoidClass {
    /// A limit, a count, a check or the record itself does not hold.
    Verification,
    /// It moved, the load generator was late, or operations missed their deadline, while others took more of the host than the study tolerates; or
    /// telemetry is missing.
    Host,
    /// Throughput moved while it was measured, or varied too much.
    NotSteady,
    /// The load generator was the limit.
    GeneratorBound,
}

impl VoidClass {
    /// Every class, the gravest first.
    pub const ALL: [Self; 4] = [Self::Verification, Self::Host, Self::NotSteady, Self::GeneratorBound];

    /// Its word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Verification => "verification",
            Self::Host => "host",
            Self::NotSteady => "settling",
            Self::GeneratorBound => "generator",
        }
    }

    /// What helps against reasons of this class.
    pub fn remedy(self) -> &'static str {
        match self {
            Self::Verification => {
                "read the report's section on validity: a check failed, and measuring again does not fix it"
            }
            Self::Host => {
                "wait for a quieter host and measure again, or limit the database to what the host can always provide \
                 (limits.cpu, limits.read_iops)"
            }
            Self::NotSteady => {
                "run a new study with a longer procedure.measure or procedure.warm_up.at_least; repeating the same \
                 study until it passes would bias the result"
            }
            Self::GeneratorBound => {
                "run a new study with fewer virtual users, more client threads or a separate load host"
            }
        }
    }
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

    /// A host that others used.
    pub(super) fn host(text: impl Into<String>) -> Self {
        Self { class: VoidClass::Host, text: text.into() }
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

/// Whether measuring again may help: the host alone was at fault.
///
/// A point that moved by itself is not measured until it holds still: that would choose the result.
pub fn is_mendable(reasons: &[Void]) -> bool {
    !reasons.is_empty() && reasons.iter().all(|reason| reason.class == VoidClass::Host)
}

impl fmt::Display for Void {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
