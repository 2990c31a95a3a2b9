//! Which rules data and inputs follow.
//!
//! A profile is pinned: a change of what it draws is a change of the generator's version. The
//! departures of another tool become a further variant here, one named switch each.

use crate::Error;

/// The rules that data and inputs follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Profile {
    /// The clauses of TPC-C revision 5.11, exactly.
    Spec,
}

impl Profile {
    /// Every profile.
    pub const ALL: [Self; 1] = [Self::Spec];

    /// The name in studies and manifests.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Spec => "spec",
        }
    }

    /// The profile of this name, or an error that lists the known names.
    pub fn from_name(name: &str) -> Result<Self, Error> {
        Self::ALL
            .into_iter()
            .find(|profile| profile.name() == name)
            .ok_or_else(|| Error::unknown_name("profile", name, &Self::ALL.map(Self::name)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back_to_profiles() {
        for profile in Profile::ALL {
            assert_eq!(Profile::from_name(profile.name()), Ok(profile));
        }
        let error = Profile::from_name("appendix-a").unwrap_err();
        assert_eq!(error.to_string(), "no profile is called \"appendix-a\"; known are: spec");
    }
}
