//! Rows of customer and history.

use super::catalogue::Table;
use super::rows::{Customer, History};
use super::selection::Selection;
use super::source::{Population, RowStream};
use super::value::Hundredths;
use super::warehouses::{PAID_AT_LOAD, draw_lines, draw_rate, draw_state_and_zip};
use crate::tprocc::{DISTRICTS_PER_WAREHOUSE, Departure, NuRand, Scale, last_name};
use crate::{Rng, Seed};

/// The customers of a warehouse, by (c_d_id, c_id).
#[derive(Clone, Debug)]
pub struct Customers {
    seed: Seed,
    scale: Scale,
    last_names: NuRand,
    bad_credits: Selection,
    row: Customer,
}

impl Customers {
    pub(super) fn new(population: &Population, w_id: i32) -> Self {
        let seed = population.warehouse_seed(Table::Customer, w_id);
        let scale = population.scale;
        let customers = scale.customers_per_district * DISTRICTS_PER_WAREHOUSE;
        let per_mille = if population.profile.has(Departure::HalfBadCredit) { 500 } else { 100 };
        Self {
            seed: seed.of(1),
            scale,
            last_names: population.c_load.last_names(&scale),
            bad_credits: Selection::of_rows(seed.of(2).rng(), customers, per_mille),
            row: customer_at_load(population, w_id),
        }
    }
}

impl RowStream for Customers {
    type Row = Customer;

    #[inline]
    fn next_row(&mut self) -> Option<&Customer> {
        let row = &mut self.row;
        let place = (row.c_d_id, row.c_id);
        (row.c_d_id, row.c_id) = next_in_district(place, self.scale.customers_per_district)?;
        let rng = &mut self.seed.of(place_label(row.c_d_id, row.c_id)).rng();
        row.c_first.draw_alphanumerics(rng, 8, 16);
        row.c_last = last_name(self.last_names.number(rng, row.c_id, &self.scale));
        draw_lines(rng, [&mut row.c_street_1, &mut row.c_street_2, &mut row.c_city]);
        draw_state_and_zip(rng, &mut row.c_state, &mut row.c_zip);
        row.c_phone.draw_digits(rng, 16, "");
        row.c_credit.set(&[if self.bad_credits.selects_next() { "BC" } else { "GC" }]);
        row.c_discount = draw_rate(rng, 0..=5_000);
        row.c_data.draw_alphanumerics(rng, 300, 500);
        Some(row)
    }
}

impl NuRand {
    /// The number of a customer's last name: the first customers have each name once, in order,
    /// the others draw theirs (clause 4.3.3.1).
    #[inline]
    fn number(&self, rng: &mut Rng, c_id: i32, scale: &Scale) -> i32 {
        if c_id <= scale.last_names { c_id - 1 } else { self.draw(rng) }
    }
}

/// The columns that all customers share at load.
fn customer_at_load(population: &Population, w_id: i32) -> Customer {
    let mut row = Customer {
        c_d_id: 1,
        c_w_id: w_id,
        c_since: population.loaded_at,
        c_credit_lim: Hundredths(5_000_000),
        c_balance: Hundredths(-PAID_AT_LOAD.0),
        c_ytd_payment: PAID_AT_LOAD,
        c_payment_cnt: 1,
        c_delivery_cnt: 0,
        ..Customer::default()
    };
    row.c_middle.set(&["OE"]);
    row
}

/// The history of a warehouse at load, by (h_c_d_id, h_c_id): one row per customer.
#[derive(Clone, Debug)]
pub struct Histories {
    seed: Seed,
    customers_per_district: i32,
    row: History,
}

impl Histories {
    pub(super) fn new(population: &Population, w_id: i32) -> Self {
        let row = History {
            h_c_d_id: 1,
            h_c_w_id: w_id,
            h_w_id: w_id,
            h_date: population.loaded_at,
            h_amount: PAID_AT_LOAD,
            ..History::default()
        };
        Self {
            seed: population.warehouse_seed(Table::History, w_id),
            customers_per_district: population.scale.customers_per_district,
            row,
        }
    }
}

impl RowStream for Histories {
    type Row = History;

    #[inline]
    fn next_row(&mut self) -> Option<&History> {
        let row = &mut self.row;
        let place = (row.h_c_d_id, row.h_c_id);
        (row.h_c_d_id, row.h_c_id) = next_in_district(place, self.customers_per_district)?;
        row.h_d_id = row.h_c_d_id;
        let rng = &mut self.seed.of(place_label(row.h_c_d_id, row.h_c_id)).rng();
        row.h_data.draw_alphanumerics(rng, 12, 24);
        Some(row)
    }
}

/// The (district, number) after this one, where a district has the numbers 1 to `last`; `None` after the last district.
#[inline]
pub(super) fn next_in_district((d_id, number): (i32, i32), last: i32) -> Option<(i32, i32)> {
    if number < last { Some((d_id, number + 1)) } else { (d_id < DISTRICTS_PER_WAREHOUSE).then_some((d_id + 1, 1)) }
}

/// The label of a district's row in seeds: the same at every scale.
#[inline]
pub(super) fn place_label(d_id: i32, number: i32) -> u64 {
    u64::from(d_id.unsigned_abs()) << 32 | u64::from(number.unsigned_abs())
}
