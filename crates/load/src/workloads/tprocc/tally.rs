//! Counts of a virtual user's completed transactions: for conservation, agreement and the audit of inputs.

use super::transactions::delivery::DeliveryOutput;
use proofload_gen::tprocc::inputs::{Delivery, NewOrder, OrderStatus, Payment, Transaction};
use serde::{Deserialize, Serialize};

/// Remote warehouses drawn, by home and by target.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct RemoteDraws {
    /// Draws whose home is warehouse index + 1.
    pub(super) by_home: Vec<u64>,
    /// Draws that fell on warehouse index + 1.
    pub(super) by_target: Vec<u64>,
}

impl RemoteDraws {
    fn new(warehouses: usize) -> Self {
        Self { by_home: vec![0; warehouses], by_target: vec![0; warehouses] }
    }

    fn add(&mut self, home: i32, target: i32) {
        let place = |w_id: i32| w_id.unsigned_abs() as usize - 1;
        self.by_home[place(home)] += 1;
        self.by_target[place(target)] += 1;
    }

    fn merge(&mut self, other: &Self) {
        add_all(&mut self.by_home, &other.by_home);
        add_all(&mut self.by_target, &other.by_target);
    }

    /// Number of draws.
    pub(super) fn count(&self) -> u64 {
        self.by_home.iter().sum()
    }
}

/// Adds counts place by place; an empty list takes the other's length.
fn add_all(into: &mut Vec<u64>, from: &[u64]) {
    into.resize(into.len().max(from.len()), 0);
    for (sum, count) in into.iter_mut().zip(from) {
        *sum += count;
    }
}

/// Sums of everything that committed New-Orders put into the database.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct EnteredOrders {
    pub(super) orders: u64,
    pub(super) lines: u64,
    pub(super) quantity: u64,
    pub(super) remote_lines: u64,
    pub(super) orders_not_local: u64,
    /// Lines whose item is unused: they take nothing from stock.
    pub(super) unused_lines: u64,
    pub(super) unused_quantity: u64,
    pub(super) unused_remote_lines: u64,
}

/// Counts of one user or, merged, of all.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Tally {
    /// Committed New-Orders.
    pub(super) entered: EnteredOrders,
    /// New-Orders rolled back by design.
    pub(super) rolled_back: u64,
    /// Completed New-Orders by their number of lines.
    pub(super) orders_by_lines: [u64; 16],
    /// Remote lines of completed New-Orders.
    pub(super) remote_lines: RemoteDraws,
    /// Committed Payments.
    pub(super) payments: u64,
    /// Their sum, hundredths.
    pub(super) amount: i64,
    /// Payments by last name.
    pub(super) payments_by_name: u64,
    /// Payments of customers of another warehouse.
    pub(super) remote_payments: RemoteDraws,
    /// Order-Status transactions; by last name.
    pub(super) order_statuses: u64,
    /// Order-Status transactions by last name.
    pub(super) order_statuses_by_name: u64,
    /// Committed Deliveries.
    pub(super) deliveries: u64,
    /// Orders that they delivered.
    pub(super) orders_delivered: u64,
    /// Deliveries that were queued to be done later.
    pub(super) deliveries_queued: u64,
    /// Deliveries that found a queue empty.
    pub(super) deliveries_with_skips: u64,
    /// Stock-Level transactions.
    pub(super) stock_levels: u64,
    /// Transactions whose connection was lost: of unknown outcome, by type.
    pub(super) unknown: [u64; 5],
}

impl Tally {
    /// An empty tally for this many warehouses.
    pub(super) fn new(warehouses: i32) -> Self {
        let warehouses = warehouses.unsigned_abs() as usize;
        let (remote_lines, remote_payments) = (RemoteDraws::new(warehouses), RemoteDraws::new(warehouses));
        Self { remote_lines, remote_payments, ..Self::default() }
    }

    /// A New-Order has completed.
    pub(super) fn new_order(&mut self, input: &NewOrder, rolled_back: bool) {
        self.orders_by_lines[input.lines().len()] += 1;
        for line in input.lines().iter().filter(|line| line.ol_supply_w_id != input.w_id) {
            self.remote_lines.add(input.w_id, line.ol_supply_w_id);
        }
        if rolled_back {
            self.rolled_back += 1;
            return;
        }
        let entered = &mut self.entered;
        entered.orders += 1;
        entered.lines += input.lines().len() as u64;
        entered.quantity += input.lines().iter().map(|line| u64::from(line.ol_quantity.unsigned_abs())).sum::<u64>();
        entered.remote_lines += input.remote_lines() as u64;
        entered.orders_not_local += u64::from(!input.is_all_local());
        if let (true, Some(unused)) = (input.rolls_back, input.lines().last()) {
            entered.unused_lines += 1;
            entered.unused_quantity += u64::from(unused.ol_quantity.unsigned_abs());
            entered.unused_remote_lines += u64::from(unused.ol_supply_w_id != input.w_id);
        }
    }

    /// A Payment has committed.
    pub(super) fn payment(&mut self, input: &Payment) {
        self.payments += 1;
        self.amount += input.h_amount.0;
        self.payments_by_name += u64::from(input.customer.is_by_name());
        if input.is_remote() {
            self.remote_payments.add(input.w_id, input.c_w_id);
        }
    }

    /// An Order-Status has been read.
    pub(super) fn order_status(&mut self, input: &OrderStatus) {
        self.order_statuses += 1;
        self.order_statuses_by_name += u64::from(input.customer.is_by_name());
    }

    /// A Delivery has committed.
    pub(super) fn delivery(&mut self, _input: &Delivery, output: &DeliveryOutput) {
        self.deliveries += 1;
        self.orders_delivered += output.delivered() as u64;
        self.deliveries_with_skips += u64::from(output.delivered() < output.orders.len());
    }

    /// The connection was lost during a transaction.
    pub(super) fn unknown(&mut self, transaction: Transaction) {
        self.unknown[transaction as usize] += 1;
    }

    /// Completed New-Orders, those rolled back by design included.
    pub(super) fn new_orders(&self) -> u64 {
        self.entered.orders + self.rolled_back
    }

    /// Completed transactions of all types.
    pub(super) fn transactions(&self) -> u64 {
        self.new_orders() + self.payments + self.order_statuses + self.deliveries + self.stock_levels
    }

    /// Adds another tally.
    pub(super) fn merge(&mut self, other: &Self) {
        let (sum, more) = (&mut self.entered, &other.entered);
        sum.orders += more.orders;
        sum.lines += more.lines;
        sum.quantity += more.quantity;
        sum.remote_lines += more.remote_lines;
        sum.orders_not_local += more.orders_not_local;
        sum.unused_lines += more.unused_lines;
        sum.unused_quantity += more.unused_quantity;
        sum.unused_remote_lines += more.unused_remote_lines;
        self.rolled_back += other.rolled_back;
        self.remote_lines.merge(&other.remote_lines);
        self.remote_payments.merge(&other.remote_payments);
        self.payments += other.payments;
        self.amount += other.amount;
        self.payments_by_name += other.payments_by_name;
        self.order_statuses += other.order_statuses;
        self.order_statuses_by_name += other.order_statuses_by_name;
        self.deliveries += other.deliveries;
        self.orders_delivered += other.orders_delivered;
        self.deliveries_queued += other.deliveries_queued;
        self.deliveries_with_skips += other.deliveries_with_skips;
        self.stock_levels += other.stock_levels;
        for (sum, more) in self.orders_by_lines.iter_mut().zip(other.orders_by_lines) {
            *sum += more;
        }
        for (sum, more) in self.unknown.iter_mut().zip(other.unknown) {
            *sum += more;
        }
    }
}
