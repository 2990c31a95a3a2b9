//! The twelve consistency conditions of clause 3.3.2 hold at load, and the check that says so
//! finds data in which they do not.

use std::collections::{BTreeMap, BTreeSet};

use proofload_gen::tprocc::population::{
    Customer, District, History, Hundredths, NewOrder, Order, OrderLine, Population, Warehouse,
};
use proofload_gen::tprocc::{Departure, Profile, Scale};

use crate::support::{population, rows};

/// (district, order or customer), within the one warehouse looked at.
type Key = (i32, i32);

/// The rows of one warehouse.
struct Data {
    scale: Scale,
    warehouse: Warehouse,
    districts: Vec<District>,
    customers: Vec<Customer>,
    histories: Vec<History>,
    orders: Vec<Order>,
    lines: Vec<OrderLine>,
    new_orders: Vec<NewOrder>,
}

impl Data {
    fn at_load(scale: Scale, w_id: i32) -> Self {
        Self::of(&population(42, scale), w_id)
    }

    fn of(population: &Population, w_id: i32) -> Self {
        Self {
            scale: population.scale,
            warehouse: rows(population.warehouse(w_id)).remove(0),
            districts: rows(population.districts(w_id)),
            customers: rows(population.customers(w_id)),
            histories: rows(population.histories(w_id)),
            orders: rows(population.orders(w_id)),
            lines: rows(population.order_lines(w_id)),
            new_orders: rows(population.new_orders(w_id)),
        }
    }

    /// The numbers of the conditions that do not hold.
    fn violated(&self) -> BTreeSet<u8> {
        let mut violated = BTreeSet::new();
        let mut require = |condition: u8, holds: bool| {
            if !holds {
                violated.insert(condition);
            }
        };
        self.check_sums(&mut require);
        self.check_orders(&mut require);
        self.check_customers(&mut require);
        for district in &self.districts {
            self.check_district(district, &mut require);
        }
        violated
    }

    /// Conditions 1, 8 and 9.
    fn check_sums(&self, require: &mut impl FnMut(u8, bool)) {
        let paid = |d_id: Option<i32>| -> i64 {
            let rows = self.histories.iter().filter(|row| d_id.is_none_or(|id| row.h_d_id == id));
            rows.map(|row| row.h_amount.0).sum()
        };
        let Hundredths(w_ytd) = self.warehouse.w_ytd;
        require(1, w_ytd == self.districts.iter().map(|row| row.d_ytd.0).sum::<i64>());
        require(8, w_ytd == paid(None));
        for district in &self.districts {
            require(9, district.d_ytd.0 == paid(Some(district.d_id)));
        }
    }

    /// Conditions 2, 3, 4 and 11.
    fn check_district(&self, district: &District, require: &mut impl FnMut(u8, bool)) {
        let d_id = district.d_id;
        let orders: Vec<&Order> = self.orders.iter().filter(|row| row.o_d_id == d_id).collect();
        let lines = self.lines.iter().filter(|row| row.ol_d_id == d_id).count();
        let queue: BTreeSet<i32> =
            self.new_orders.iter().filter(|row| row.no_d_id == d_id).map(|row| row.no_o_id).collect();
        let (first, last) = (queue.first().copied(), queue.last().copied());
        let newest = orders.iter().map(|row| row.o_id).max();
        require(2, newest == Some(district.d_next_o_id - 1) && last.is_none_or(|id| Some(id) == newest));
        let span = first.zip(last).map_or(0, |(first, last)| last - first + 1);
        require(3, span as usize == queue.len());
        require(4, orders.iter().map(|row| row.o_ol_cnt as usize).sum::<usize>() == lines);
        let delivered = self.scale.last_delivered_order() as usize;
        require(11, orders.len() == queue.len() + delivered);
    }

    /// Conditions 5, 6 and 7.
    fn check_orders(&self, require: &mut impl FnMut(u8, bool)) {
        let mut lines: BTreeMap<Key, Vec<&OrderLine>> = BTreeMap::new();
        for line in &self.lines {
            lines.entry((line.ol_d_id, line.ol_o_id)).or_default().push(line);
        }
        let queue: BTreeSet<Key> = self.new_orders.iter().map(|row| (row.no_d_id, row.no_o_id)).collect();
        for order in &self.orders {
            let key = (order.o_d_id, order.o_id);
            let lines = lines.remove(&key).unwrap_or_default();
            let undelivered = order.o_carrier_id.is_none();
            require(5, undelivered == queue.contains(&key));
            require(6, order.o_ol_cnt as usize == lines.len());
            require(7, lines.iter().all(|line| line.ol_delivery_d.is_none() == undelivered));
        }
        require(6, lines.is_empty());
    }

    /// Conditions 10 and 12.
    fn check_customers(&self, require: &mut impl FnMut(u8, bool)) {
        let customer_of: BTreeMap<Key, i32> =
            self.orders.iter().map(|row| ((row.o_d_id, row.o_id), row.o_c_id)).collect();
        let mut delivered: BTreeMap<Key, i64> = BTreeMap::new();
        for line in self.lines.iter().filter(|line| line.ol_delivery_d.is_some()) {
            if let Some(&c_id) = customer_of.get(&(line.ol_d_id, line.ol_o_id)) {
                *delivered.entry((line.ol_d_id, c_id)).or_default() += line.ol_amount.0;
            }
        }
        let mut paid: BTreeMap<Key, i64> = BTreeMap::new();
        for row in &self.histories {
            *paid.entry((row.h_c_d_id, row.h_c_id)).or_default() += row.h_amount.0;
        }
        for customer in &self.customers {
            let key = (customer.c_d_id, customer.c_id);
            let delivered = delivered.get(&key).copied().unwrap_or(0);
            let paid = paid.get(&key).copied().unwrap_or(0);
            require(10, customer.c_balance.0 == delivered - paid);
            require(12, customer.c_balance.0 + customer.c_ytd_payment.0 == delivered);
        }
    }
}

#[test]
fn all_conditions_hold_at_load() {
    for w_id in [1, 2, 77] {
        assert_eq!(Data::at_load(Scale::TOY, w_id).violated(), BTreeSet::new());
    }
    assert_eq!(Data::at_load(Scale::FULL, 1).violated(), BTreeSet::new());
}

#[track_caller]
fn check_fault(fault: impl FnOnce(&mut Data), violated: &[u8]) {
    let mut data = Data::at_load(Scale::TOY, 1);
    fault(&mut data);
    assert_eq!(data.violated().into_iter().collect::<Vec<_>>(), violated);
}

#[test]
fn every_condition_can_fail() {
    check_fault(|data| data.warehouse.w_ytd.0 += 1, &[1, 8]);
    check_fault(|data| data.districts[3].d_ytd.0 += 1, &[1, 9]);
    check_fault(|data| data.districts[3].d_next_o_id += 1, &[2]);
    check_fault(|data| data.new_orders.retain(|row| row.no_o_id != 25 || row.no_d_id != 1), &[3, 5, 11]);
    check_fault(|data| data.lines.truncate(2_000), &[4, 6]);
    check_fault(|data| data.lines[0].ol_delivery_d = None, &[7]);
    check_fault(|data| data.customers[5].c_balance.0 += 1, &[10, 12]);
    check_fault(|data| data.customers[5].c_ytd_payment.0 += 1, &[12]);
    check_fault(|data| data.lines[0].ol_amount.0 += 1, &[10, 12]);
}

/// Swapped amounts alone of all departures break conditions at load: 10 and 12.
#[test]
fn departures_break_the_conditions_that_they_are_said_to_break() {
    for departure in Departure::ALL {
        let profile = Profile { departures: [departure].into_iter().collect() };
        let violated = Data::of(&Population { profile, ..population(42, Scale::TOY) }, 1).violated();
        let expected = if departure == Departure::AmountsSwapped { vec![10, 12] } else { vec![] };
        assert_eq!(violated.into_iter().collect::<Vec<_>>(), expected, "{departure:?}");
    }
}
