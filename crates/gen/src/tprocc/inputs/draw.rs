//! Drawing of each transaction's inputs, clause by clause.

use super::homes::Home;
use super::input::{
    CustomerBy, Delivery, Input, Line, MAX_LINES, NewOrder, OrderStatus, Payment, StockLevel, Transaction,
};
use crate::Rng;
use crate::tprocc::population::Hundredths;
use crate::tprocc::{Constants, DISTRICTS_PER_WAREHOUSE, Departure, LastName, NuRand, Profile, Scale};

/// Ranges and distributions that all users share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ranges {
    warehouses: i32,
    unused_item: i32,
    last_names: NuRand,
    c_ids: NuRand,
    ol_i_ids: NuRand,
    profile: Profile,
}

impl Ranges {
    pub(super) fn new(warehouses: i32, scale: &Scale, constants: &Constants, profile: &Profile) -> Self {
        let ids = |nurand: NuRand| if profile.has(Departure::UniformIds) { nurand.uniform() } else { nurand };
        Self {
            warehouses,
            unused_item: scale.unused_item(),
            last_names: constants.last_names(scale),
            c_ids: ids(constants.c_ids(scale)),
            ol_i_ids: ids(constants.ol_i_ids(scale)),
            profile: *profile,
        }
    }

    #[inline]
    pub(super) fn draw(&self, transaction: Transaction, home: Home, rng: &mut Rng) -> Input {
        let Home { w_id, stock_level_d_id } = home;
        match transaction {
            Transaction::NewOrder => Input::NewOrder(self.new_order(w_id, rng)),
            Transaction::Payment => Input::Payment(self.payment(w_id, rng)),
            Transaction::OrderStatus => {
                Input::OrderStatus(OrderStatus { w_id, d_id: draw_district(rng), customer: self.customer(rng) })
            }
            Transaction::Delivery => Input::Delivery(Delivery { w_id, o_carrier_id: rng.between(1, 10) }),
            Transaction::StockLevel => {
                Input::StockLevel(StockLevel { w_id, d_id: stock_level_d_id, threshold: rng.between(10, 20) })
            }
        }
    }

    /// Clause 2.4.1.
    #[inline]
    fn new_order(&self, w_id: i32, rng: &mut Rng) -> NewOrder {
        let mut order = NewOrder {
            w_id,
            d_id: draw_district(rng),
            c_id: self.c_ids.draw(rng),
            ol_cnt: rng.between(5, 15),
            all_lines: [Line::default(); MAX_LINES],
            rolls_back: rng.chance_percent(1),
        };
        let lines = &mut order.all_lines[..order.ol_cnt as usize];
        for line in lines.iter_mut() {
            *line = self.line(w_id, rng);
        }
        if let (true, Some(last)) = (order.rolls_back, lines.last_mut()) {
            last.ol_i_id = self.unused_item;
        }
        order
    }

    /// Clause 2.4.1.5: one line in a hundred is supplied by another warehouse.
    #[inline]
    fn line(&self, w_id: i32, rng: &mut Rng) -> Line {
        Line {
            ol_i_id: self.ol_i_ids.draw(rng),
            ol_supply_w_id: if rng.chance_percent(1) { self.supplier(w_id, rng) } else { w_id },
            ol_quantity: rng.between(1, 10),
        }
    }

    /// The warehouse of a line that another one than home supplies, and what the profile takes for such.
    #[inline]
    fn supplier(&self, w_id: i32, rng: &mut Rng) -> i32 {
        if self.profile.has(Departure::RemoteMayBeHome) {
            return rng.between(1, self.warehouses);
        }
        self.other(w_id, rng)
    }

    /// Clause 2.5.1: 15 of 100 customers are of another warehouse and of any district there.
    #[inline]
    fn payment(&self, w_id: i32, rng: &mut Rng) -> Payment {
        let d_id = draw_district(rng);
        let (c_w_id, c_d_id) =
            if rng.chance_percent(15) { (self.other(w_id, rng), draw_district(rng)) } else { (w_id, d_id) };
        Payment { w_id, d_id, c_w_id, c_d_id, customer: self.customer(rng), h_amount: self.amount(rng) }
    }

    /// Clause 2.5.1.3: 1.00 to 5,000.00.
    #[inline]
    fn amount(&self, rng: &mut Rng) -> Hundredths {
        if self.profile.has(Departure::SumsAndTexts) {
            return Hundredths(100 * i64::from(rng.between(1, 5_000)));
        }
        Hundredths(rng.between(100, 500_000).into())
    }

    /// Clauses 2.5.1.2 and 2.6.1.2: by last name in 60 of 100 cases.
    #[inline]
    fn customer(&self, rng: &mut Rng) -> CustomerBy {
        if rng.chance_percent(60) {
            CustomerBy::LastName(LastName::of(self.last_names.draw(rng)))
        } else {
            CustomerBy::Id(self.c_ids.draw(rng))
        }
    }

    /// Another warehouse than `w_id`, uniform over the others; `w_id` itself if it is the only
    /// one.
    #[inline]
    fn other(&self, w_id: i32, rng: &mut Rng) -> i32 {
        if self.warehouses == 1 {
            return w_id;
        }
        let other = rng.between(1, self.warehouses - 1);
        other + i32::from(other >= w_id)
    }
}

fn draw_district(rng: &mut Rng) -> i32 {
    rng.between(1, DISTRICTS_PER_WAREHOUSE)
}
