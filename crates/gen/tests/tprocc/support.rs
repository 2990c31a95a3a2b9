//! Populations, plans and rows as the tests need them.

use proofload_gen::Seed;
use proofload_gen::tprocc::inputs::{Homes, InputPlan, InputSettings, Mix};
use proofload_gen::tprocc::population::{Population, Row, RowStream, Timestamp};
use proofload_gen::tprocc::{CLoad, Constants, Profile, Scale};

/// 2026-01-01 00:00:00 UTC.
pub(crate) const LOADED_AT: Timestamp = Timestamp(1_767_225_600_000_000);

pub(crate) fn population(seed: u64, scale: Scale) -> Population {
    let seed = Seed(seed);
    Population { seed, profile: Profile::SPEC, scale, c_load: CLoad::draw(seed, &Profile::SPEC), loaded_at: LOADED_AT }
}

pub(crate) fn settings(seed: u64, scale: Scale) -> InputSettings {
    let seed = Seed(seed);
    InputSettings {
        seed,
        profile: Profile::SPEC,
        scale,
        c_load: CLoad::draw(seed, &Profile::SPEC),
        constants: Constants::for_run(seed, CLoad::draw(seed, &Profile::SPEC), &scale, &Profile::SPEC),
        warehouses: 10,
        users: 4,
        mix: Mix::Deck,
        homes: Homes::Fixed,
    }
}

pub(crate) fn plan(settings: InputSettings) -> InputPlan {
    InputPlan::new(settings).expect("the test's settings are sound")
}

/// All rows of a stream.
pub(crate) fn rows<S: RowStream>(mut stream: S) -> Vec<S::Row>
where
    S::Row: Clone,
{
    let mut rows = Vec::new();
    while let Some(row) = stream.next_row() {
        rows.push(row.clone());
    }
    rows
}

/// A row's values, separated by bars.
pub(crate) fn line(row: &impl Row) -> String {
    let mut values = Vec::new();
    row.for_each_value(|value| values.push(value.to_string()));
    values.join("|")
}
