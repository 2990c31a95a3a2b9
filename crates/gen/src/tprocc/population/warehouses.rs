//! Rows of warehouse and district.

use super::catalogue::Table;
use super::rows::{District, Warehouse};
use super::source::{Population, RowStream};
use super::value::{Hundredths, TenThousandths};
use crate::tprocc::{DISTRICTS_PER_WAREHOUSE, Departure, Profile, Scale};
use crate::{Rng, Seed, Text};
use std::ops::RangeInclusive;

/// Payments of every customer at load, 10.00 (clause 4.3.3.1).
pub(super) const PAID_AT_LOAD: Hundredths = Hundredths(1_000);

/// The one row of a warehouse.
#[derive(Clone, Debug)]
pub struct Warehouses {
    seed: Seed,
    w_id: i32,
    ytd: Hundredths,
    taxes: RangeInclusive<i32>,
    row: Warehouse,
}

impl Warehouses {
    pub(super) fn new(population: &Population, w_id: i32) -> Self {
        let Hundredths(of_district) = district_ytd(&population.scale);
        Self {
            seed: population.warehouse_seed(Table::Warehouse, w_id),
            w_id,
            ytd: Hundredths(of_district * i64::from(DISTRICTS_PER_WAREHOUSE)),
            taxes: taxes(&population.profile),
            row: Warehouse::default(),
        }
    }
}

impl RowStream for Warehouses {
    type Row = Warehouse;

    fn next_row(&mut self) -> Option<&Warehouse> {
        let row = &mut self.row;
        if row.w_id == self.w_id {
            return None;
        }
        let rng = &mut self.seed.rng();
        row.w_id = self.w_id;
        row.w_name.draw_alphanumerics(rng, 6, 10);
        draw_lines(rng, [&mut row.w_street_1, &mut row.w_street_2, &mut row.w_city]);
        draw_state_and_zip(rng, &mut row.w_state, &mut row.w_zip);
        row.w_tax = draw_rate(rng, self.taxes.clone());
        row.w_ytd = self.ytd;
        Some(row)
    }
}

/// The districts of a warehouse, by d_id.
#[derive(Clone, Debug)]
pub struct Districts {
    seed: Seed,
    taxes: RangeInclusive<i32>,
    row: District,
}

impl Districts {
    pub(super) fn new(population: &Population, w_id: i32) -> Self {
        let row = District {
            d_w_id: w_id,
            d_ytd: district_ytd(&population.scale),
            d_next_o_id: population.scale.orders_per_district() + 1,
            ..District::default()
        };
        let taxes = taxes(&population.profile);
        Self { seed: population.warehouse_seed(Table::District, w_id), taxes, row }
    }
}

impl RowStream for Districts {
    type Row = District;

    fn next_row(&mut self) -> Option<&District> {
        let row = &mut self.row;
        if row.d_id == DISTRICTS_PER_WAREHOUSE {
            return None;
        }
        row.d_id += 1;
        let rng = &mut self.seed.of(u64::from(row.d_id.unsigned_abs())).rng();
        row.d_name.draw_alphanumerics(rng, 6, 10);
        draw_lines(rng, [&mut row.d_street_1, &mut row.d_street_2, &mut row.d_city]);
        draw_state_and_zip(rng, &mut row.d_state, &mut row.d_zip);
        row.d_tax = draw_rate(rng, self.taxes.clone());
        Some(row)
    }
}

/// Payments of a district's customers at load: 30,000.00 at full scale.
fn district_ytd(scale: &Scale) -> Hundredths {
    Hundredths(PAID_AT_LOAD.0 * i64::from(scale.customers_per_district))
}

/// Streets and city: a-strings of 10 to 20.
#[inline]
pub(super) fn draw_lines(rng: &mut Rng, lines: [&mut Text<20>; 3]) {
    for line in lines {
        line.draw_alphanumerics(rng, 10, 20);
    }
}

/// Two letters; four random digits and 11111 (clause 4.3.2.7).
#[inline]
pub(super) fn draw_state_and_zip(rng: &mut Rng, state: &mut Text<2>, zip: &mut Text<9>) {
    state.draw_letters(rng);
    zip.draw_digits(rng, 4, "11111");
}

/// A rate within a range of ten-thousandths.
#[inline]
pub(super) fn draw_rate(rng: &mut Rng, range: RangeInclusive<i32>) -> TenThousandths {
    TenThousandths(rng.between(*range.start(), *range.end()).into())
}

/// The range of w_tax and d_tax, ten-thousandths.
fn taxes(profile: &Profile) -> RangeInclusive<i32> {
    if profile.has(Departure::SumsAndTexts) { 1_000..=2_000 } else { 0..=2_000 }
}
