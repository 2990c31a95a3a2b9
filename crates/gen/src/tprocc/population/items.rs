//! Rows of item.

use super::catalogue::Table;
use super::rows::Item;
use super::selection::Selection;
use super::source::{Population, RowStream};
use super::value::Hundredths;
use crate::tprocc::{Departure, Profile};
use crate::{Rng, Seed, Text};

/// Mark in the data of brand-generic items and stocks (clauses 2.4.2.2, 4.3.3.1), or under a profile.
pub(super) fn original(profile: &Profile) -> &'static str {
    if profile.has(Departure::SumsAndTexts) { "original" } else { "ORIGINAL" }
}

/// The rows of item, by i_id.
#[derive(Clone, Debug)]
pub struct Items {
    seed: Seed,
    last: i32,
    originals: Selection,
    original: &'static str,
    row: Item,
}

impl Items {
    pub(super) fn new(population: &Population) -> Self {
        let seed = population.table_seed(Table::Item);
        let last = population.scale.items;
        Self {
            seed: seed.of(1),
            last,
            originals: Selection::of_rows(seed.of(2).rng(), last, 100),
            original: original(&population.profile),
            row: Item::default(),
        }
    }
}

impl RowStream for Items {
    type Row = Item;

    #[inline]
    fn next_row(&mut self) -> Option<&Item> {
        let row = &mut self.row;
        if row.i_id == self.last {
            return None;
        }
        row.i_id += 1;
        let rng = &mut self.seed.of(u64::from(row.i_id.unsigned_abs())).rng();
        row.i_im_id = rng.between(1, 10_000);
        row.i_name.draw_alphanumerics(rng, 14, 24);
        row.i_price = Hundredths(rng.between(100, 10_000).into());
        draw_data(&mut row.i_data, rng, &mut self.originals, self.original);
        Some(row)
    }
}

/// i_data and s_data: an a-string of 26 to 50, in the selected rows with ORIGINAL at a random
/// position.
#[inline]
pub(super) fn draw_data(data: &mut Text<50>, rng: &mut Rng, originals: &mut Selection, original: &str) {
    data.draw_alphanumerics(rng, 26, 50);
    if originals.selects_next() {
        data.plant(rng, original);
    }
}
