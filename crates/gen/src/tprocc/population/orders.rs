//! Rows of orders, order_line and new_order.
//!
//! Orders and their lines are drawn apart, as they are loaded apart; both derive the number of
//! lines from the order's own seed.

use super::catalogue::Table;
use super::customers::{next_in_district, place_label};
use super::rows::{NewOrder, Order, OrderLine};
use super::source::{Population, RowStream};
use super::value::{Hundredths, Timestamp};
use crate::tprocc::{DISTRICTS_PER_WAREHOUSE, Departure, Profile, Scale};
use crate::{Rng, Seed};

/// Draws that all orders of a warehouse share.
#[derive(Clone, Copy, Debug)]
struct OrderBook {
    heads: Seed,
    customers: Seed,
    lines: Seed,
    scale: Scale,
    profile: Profile,
    loaded_at: Timestamp,
}

impl OrderBook {
    fn new(population: &Population, w_id: i32) -> Self {
        let seed = population.warehouse_seed(Table::Orders, w_id);
        Self {
            heads: seed.of(1),
            customers: seed.of(2),
            lines: population.warehouse_seed(Table::OrderLine, w_id),
            scale: population.scale,
            profile: population.profile,
            loaded_at: population.loaded_at,
        }
    }

    /// The number of lines of an order, 5 to 15, and the generator of what follows it.
    #[inline]
    fn head(&self, d_id: i32, o_id: i32) -> (i32, Rng) {
        let mut rng = self.heads.of(place_label(d_id, o_id)).rng();
        (rng.between(5, 15), rng)
    }

    fn is_delivered(&self, o_id: i32) -> bool {
        o_id <= self.scale.last_delivered_order()
    }

    /// Writes a random permutation of the district's customers: that of order `o_id` stands at
    /// `o_id − 1`.
    fn permute_customers(&self, d_id: i32, customers: &mut Vec<i32>) {
        let (last, mut rng) =
            (self.scale.customers_per_district, self.customers.of(u64::from(d_id.unsigned_abs())).rng());
        customers.clear();
        if self.profile.has(Departure::CustomersLost) {
            // Each place takes a number from its own to the last, and what it held is lost: on average half are left.
            customers.extend((1..=last).map(|place| rng.between(place, last)));
            return;
        }
        customers.extend(1..=last);
        rng.shuffle(customers);
    }

    /// ol_amount at load: 0.00 where delivered, else 0.01 to 9,999.99.
    #[inline]
    fn amount(&self, is_delivered: bool, rng: &mut Rng) -> Hundredths {
        let range = match (self.profile.has(Departure::AmountsSwapped), is_delivered) {
            (false, false) => (1, 999_999),
            (true, true) => (10, 10_000),
            _ => return Hundredths(0),
        };
        Hundredths(rng.between(range.0, range.1).into())
    }
}

/// The orders of a warehouse, by (o_d_id, o_id).
#[derive(Clone, Debug)]
pub struct Orders {
    book: OrderBook,
    customers: Vec<i32>,
    row: Order,
}

impl Orders {
    pub(super) fn new(population: &Population, w_id: i32) -> Self {
        let row =
            Order { o_d_id: 1, o_w_id: w_id, o_entry_d: population.loaded_at, o_all_local: 1, ..Order::default() };
        let book = OrderBook::new(population, w_id);
        let mut customers = Vec::new();
        book.permute_customers(row.o_d_id, &mut customers);
        Self { book, customers, row }
    }
}

impl RowStream for Orders {
    type Row = Order;

    #[inline]
    fn next_row(&mut self) -> Option<&Order> {
        let row = &mut self.row;
        let place = (row.o_d_id, row.o_id);
        let next = next_in_district(place, self.book.scale.orders_per_district())?;
        if next.0 != row.o_d_id {
            self.book.permute_customers(next.0, &mut self.customers);
        }
        (row.o_d_id, row.o_id) = next;
        let (lines, mut rng) = self.book.head(row.o_d_id, row.o_id);
        row.o_c_id = self.customers[row.o_id as usize - 1];
        row.o_carrier_id = self.book.is_delivered(row.o_id).then(|| rng.between(1, 10));
        row.o_ol_cnt = lines;
        Some(row)
    }
}

/// The order lines of a warehouse, by (ol_d_id, ol_o_id, ol_number).
#[derive(Clone, Debug)]
pub struct OrderLines {
    book: OrderBook,
    order_rng: Rng,
    lines: i32,
    row: OrderLine,
}

impl OrderLines {
    pub(super) fn new(population: &Population, w_id: i32) -> Self {
        let row = OrderLine { ol_d_id: 1, ol_w_id: w_id, ol_supply_w_id: w_id, ol_quantity: 5, ..OrderLine::default() };
        let book = OrderBook::new(population, w_id);
        Self { book, order_rng: book.lines.rng(), lines: 0, row }
    }

    /// Goes to the first line of the next order, or says that there is none.
    #[inline]
    fn open_next_order(&mut self) -> Option<()> {
        let (book, row) = (&self.book, &mut self.row);
        let place = (row.ol_d_id, row.ol_o_id);
        (row.ol_d_id, row.ol_o_id) = next_in_district(place, book.scale.orders_per_district())?;
        row.ol_number = 0;
        row.ol_delivery_d = book.is_delivered(row.ol_o_id).then_some(book.loaded_at);
        self.lines = book.head(row.ol_d_id, row.ol_o_id).0;
        self.order_rng = book.lines.of(place_label(row.ol_d_id, row.ol_o_id)).rng();
        Some(())
    }
}

impl RowStream for OrderLines {
    type Row = OrderLine;

    #[inline]
    fn next_row(&mut self) -> Option<&OrderLine> {
        if self.row.ol_number == self.lines {
            self.open_next_order()?;
        }
        let (row, rng) = (&mut self.row, &mut self.order_rng);
        row.ol_number += 1;
        row.ol_i_id = rng.between(1, self.book.scale.items);
        row.ol_amount = self.book.amount(row.ol_delivery_d.is_some(), rng);
        row.ol_dist_info.draw_letters(rng);
        Some(row)
    }
}

/// The undelivered orders of a warehouse, by (no_d_id, no_o_id).
#[derive(Clone, Debug)]
pub struct NewOrders {
    first: i32,
    last: i32,
    row: NewOrder,
}

impl NewOrders {
    pub(super) fn new(population: &Population, w_id: i32) -> Self {
        let scale = &population.scale;
        let first = scale.last_delivered_order() + 1;
        let row = NewOrder { no_o_id: first - 1, no_d_id: 1, no_w_id: w_id };
        Self { first, last: scale.orders_per_district(), row }
    }
}

impl RowStream for NewOrders {
    type Row = NewOrder;

    fn next_row(&mut self) -> Option<&NewOrder> {
        let row = &mut self.row;
        if row.no_o_id < self.last {
            row.no_o_id += 1;
        } else if row.no_d_id < DISTRICTS_PER_WAREHOUSE {
            (row.no_d_id, row.no_o_id) = (row.no_d_id + 1, self.first);
        } else {
            return None;
        }
        Some(row)
    }
}
