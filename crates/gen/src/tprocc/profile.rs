//! Rules that data and inputs follow: the clauses, or the clauses but for named departures.
//!
//! A profile is pinned: a change of what it draws is a change of the generator's version.

use super::departures::{Departure, Departures};
use crate::Error;

/// The rules that data and inputs follow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Profile {
    /// Differences from the clauses of TPC-C revision 5.11.
    pub departures: Departures,
}

/// The names of profiles that have one.
const SPEC: &str = "spec";
const HAMMERDB_COMPATIBLE: &str = "hammerdb-compatible";

impl Profile {
    /// The clauses of TPC-C revision 5.11, exactly.
    pub const SPEC: Self = Self { departures: Departures::NONE };

    /// The names that studies may say.
    pub const NAMES: [&str; 2] = [SPEC, HAMMERDB_COMPATIBLE];

    /// The behaviour of HammerDB 6.0 as far as it can be reproduced: every departure.
    #[must_use]
    pub fn hammerdb_compatible() -> Self {
        Self { departures: Departure::ALL.into_iter().collect() }
    }

    /// Whether this departure is on.
    #[inline]
    #[must_use]
    pub const fn has(&self, departure: Departure) -> bool {
        self.departures.has(departure)
    }

    /// The profile of the rows at load alone.
    #[must_use]
    pub fn of_load(&self) -> Self {
        Self { departures: self.departures.of_load() }
    }

    /// The name in manifests and reports: that of a study, or `spec with departures 1, 4`.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            profile if *profile == Self::SPEC => SPEC.to_owned(),
            profile if *profile == Self::hammerdb_compatible() => HAMMERDB_COMPATIBLE.to_owned(),
            profile => format!("{SPEC} with departures {}", profile.departures.numbers()),
        }
    }

    /// The profile of this name in a study, or an error that lists the known names.
    pub fn from_name(name: &str) -> Result<Self, Error> {
        match name {
            SPEC => Ok(Self::SPEC),
            HAMMERDB_COMPATIBLE => Ok(Self::hammerdb_compatible()),
            _ => Err(Error::unknown_name("profile", name, &Self::NAMES)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back_to_profiles() {
        for name in Profile::NAMES {
            assert_eq!(Profile::from_name(name).map(|profile| profile.name()).as_deref(), Ok(name));
        }
        let error = Profile::from_name("appendix-a").unwrap_err();
        assert_eq!(error.to_string(), "unknown profile \"appendix-a\"; known: spec, hammerdb-compatible");
        let loaded = Profile::hammerdb_compatible().of_load();
        assert_eq!(loaded.name(), "spec with departures 2, 3, 5, 13, 14");
        assert_eq!(loaded.of_load(), loaded);
    }
}
