//! The constants C of NURand (clause 2.1.6): one value per field for all users and agents.
//!
//! C-Load belongs to the data and stands in the database's manifest; the constants of a run are
//! drawn from the study's seed, and the one of last names keeps its lawful distance from C-Load.

use crate::tprocc::{Departure, NuRand, Profile, Scale};
use crate::{Rng, Seed};

/// Label of the seeds the constants are drawn from.
const CONSTANTS: u64 = 0x43;

/// C-Load, the constant of last names at load: 0 to 255.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CLoad(pub u8);

impl CLoad {
    /// The C-Load of data of a profile drawn from this seed.
    #[must_use]
    pub fn draw(seed: Seed, profile: &Profile) -> Self {
        if profile.has(Departure::C123) {
            return Self(123);
        }
        Self(u8::try_from(constants_rng(seed, 0).between(0, 255)).expect("it is at most 255"))
    }

    /// The distribution of the last names of customers after the first thousand
    /// (clause 4.3.3.1).
    #[must_use]
    pub fn last_names(self, scale: &Scale) -> NuRand {
        last_names(i32::from(self.0), scale)
    }
}

/// The constants of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Constants {
    /// C-Run, the constant of last names: 0 to 255, lawful for the data's C-Load.
    pub c_run: i32,
    /// The constant of c_id: 0 to 1,023 at full scale.
    pub c_id: i32,
    /// The constant of ol_i_id: 0 to 8,191 at full scale.
    pub ol_i_id: i32,
}

impl Constants {
    /// The constants of runs of the study with this seed, on data with this C-Load.
    ///
    /// C-Run is uniform over the values that [`is_lawful_pair`](Self::is_lawful_pair) admits, unless
    /// the profile says otherwise.
    #[must_use]
    pub fn for_run(seed: Seed, c_load: CLoad, scale: &Scale, profile: &Profile) -> Self {
        if profile.has(Departure::C123) {
            return Self { c_run: 123, c_id: 123, ol_i_id: 123 };
        }
        let mut c_run_rng = constants_rng(seed, 1);
        let c_run = loop {
            let candidate = c_run_rng.between(0, 255);
            if Self::is_lawful_pair(c_load, candidate) {
                break candidate;
            }
        };
        Self {
            c_run,
            c_id: constants_rng(seed, 2).between(0, scale.c_id_a),
            ol_i_id: constants_rng(seed, 3).between(0, scale.ol_i_id_a),
        }
    }

    /// True if the distance between C-Run and C-Load is within 65..=119 but neither 96 nor 112
    /// (clause 2.1.6.1).
    #[must_use]
    pub fn is_lawful_pair(c_load: CLoad, c_run: i32) -> bool {
        let distance = (c_run - i32::from(c_load.0)).abs();
        (65..=119).contains(&distance) && distance != 96 && distance != 112
    }

    /// The distribution of last names in Payment and Order-Status.
    #[must_use]
    pub fn last_names(&self, scale: &Scale) -> NuRand {
        last_names(self.c_run, scale)
    }

    /// The distribution of c_id.
    #[must_use]
    pub fn c_ids(&self, scale: &Scale) -> NuRand {
        NuRand { a: scale.c_id_a, c: self.c_id, low: 1, high: scale.customers_per_district }
    }

    /// The distribution of ol_i_id in New-Order.
    #[must_use]
    pub fn ol_i_ids(&self, scale: &Scale) -> NuRand {
        NuRand { a: scale.ol_i_id_a, c: self.ol_i_id, low: 1, high: scale.items }
    }
}

fn last_names(c: i32, scale: &Scale) -> NuRand {
    NuRand { a: scale.last_name_a, c, low: 0, high: scale.last_names - 1 }
}

fn constants_rng(seed: Seed, field: u64) -> Rng {
    seed.of(CONSTANTS).of(field).rng()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn c_run_is_lawful_for_every_c_load() {
        for c_load in (0..=255).map(CLoad) {
            let runs: HashSet<i32> = (0..2_000)
                .map(|seed| Constants::for_run(Seed(seed), c_load, &Scale::FULL, &Profile::SPEC).c_run)
                .collect();
            let lawful = (0..=255)
                .filter(|run| {
                    let distance = (run - i32::from(c_load.0)).abs();
                    (65..96).contains(&distance) || (97..112).contains(&distance) || (113..120).contains(&distance)
                })
                .collect();
            assert_eq!(runs, lawful, "{c_load:?}");
        }
    }

    #[test]
    fn constants_reach_both_ends_of_their_ranges() {
        let loads: HashSet<u8> = (0..5_000).map(|seed| CLoad::draw(Seed(seed), &Profile::SPEC).0).collect();
        assert_eq!(loads.len(), 256);
        let all: Vec<Constants> =
            (0..50_000).map(|seed| Constants::for_run(Seed(seed), CLoad(0), &Scale::FULL, &Profile::SPEC)).collect();
        let c_ids: HashSet<i32> = all.iter().map(|constants| constants.c_id).collect();
        assert_eq!(c_ids.len(), 1_024);
        let items = all.iter().map(|constants| constants.ol_i_id);
        assert_eq!((items.clone().min(), items.max()), (Some(0), Some(8_191)));
    }
}
