//! Rows of stock.

use super::catalogue::Table;
use super::items::{draw_data, original};
use super::rows::Stock;
use super::selection::Selection;
use super::source::{Population, RowStream};
use crate::tprocc::Departure;
use crate::{Rng, Seed};

/// The stock of a warehouse, by s_i_id.
#[derive(Clone, Debug)]
pub struct StockRows {
    seed: Seed,
    last: i32,
    originals: Selection,
    original: &'static str,
    row: Stock,
}

impl StockRows {
    pub(super) fn new(population: &Population, w_id: i32) -> Self {
        let seed = population.warehouse_seed(Table::Stock, w_id);
        let last = population.scale.items;
        let per_mille = if population.profile.has(Departure::SumsAndTexts) { 95 } else { 100 };
        Self {
            seed: seed.of(1),
            last,
            originals: Selection::of_rows(seed.of(2).rng(), last, per_mille),
            original: original(&population.profile),
            row: Stock { s_w_id: w_id, ..Stock::default() },
        }
    }
}

impl RowStream for StockRows {
    type Row = Stock;

    #[inline]
    fn next_row(&mut self) -> Option<&Stock> {
        let row = &mut self.row;
        if row.s_i_id == self.last {
            return None;
        }
        row.s_i_id += 1;
        let rng = &mut self.seed.of(u64::from(row.s_i_id.unsigned_abs())).rng();
        row.s_quantity = rng.between(10, 100);
        draw_district_texts(rng, row);
        draw_data(&mut row.s_data, rng, &mut self.originals, self.original);
        Some(row)
    }
}

#[inline]
fn draw_district_texts(rng: &mut Rng, row: &mut Stock) {
    for text in [
        &mut row.s_dist_01,
        &mut row.s_dist_02,
        &mut row.s_dist_03,
        &mut row.s_dist_04,
        &mut row.s_dist_05,
        &mut row.s_dist_06,
        &mut row.s_dist_07,
        &mut row.s_dist_08,
        &mut row.s_dist_09,
        &mut row.s_dist_10,
    ] {
        text.draw_letters(rng);
    }
}
