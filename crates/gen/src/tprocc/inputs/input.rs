//! Inputs that a virtual user sends: one struct per transaction type.
//!
//! Plain data of fixed size; every number is what goes to the database.

use crate::tprocc::LastName;
use crate::tprocc::population::Hundredths;

/// The most lines an order has.
pub const MAX_LINES: usize = 15;

/// A transaction type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Transaction {
    /// Enters an order.
    NewOrder,
    /// Books a customer's payment.
    Payment,
    /// Reads a customer's last order.
    OrderStatus,
    /// Delivers the oldest order of each district.
    Delivery,
    /// Counts items that run short.
    StockLevel,
}

impl Transaction {
    /// Every type, in the order of clauses 2.4 to 2.8, so that `ALL[t as usize]` is `t`.
    pub const ALL: [Self; 5] = [Self::NewOrder, Self::Payment, Self::OrderStatus, Self::Delivery, Self::StockLevel];

    /// The name in studies and reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::NewOrder => "New-Order",
            Self::Payment => "Payment",
            Self::OrderStatus => "Order-Status",
            Self::Delivery => "Delivery",
            Self::StockLevel => "Stock-Level",
        }
    }
}

/// The inputs of one transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// Inputs of a New-Order.
    NewOrder(NewOrder),
    /// Inputs of a Payment.
    Payment(Payment),
    /// Inputs of an Order-Status.
    OrderStatus(OrderStatus),
    /// Inputs of a Delivery.
    Delivery(Delivery),
    /// Inputs of a Stock-Level.
    StockLevel(StockLevel),
}

impl Input {
    /// The type of the transaction.
    #[must_use]
    pub const fn transaction(&self) -> Transaction {
        match self {
            Self::NewOrder(_) => Transaction::NewOrder,
            Self::Payment(_) => Transaction::Payment,
            Self::OrderStatus(_) => Transaction::OrderStatus,
            Self::Delivery(_) => Transaction::Delivery,
            Self::StockLevel(_) => Transaction::StockLevel,
        }
    }
}

/// Inputs of a New-Order (clause 2.4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewOrder {
    /// The user's home warehouse.
    pub w_id: i32,
    /// 1 to 10.
    pub d_id: i32,
    /// The customer, by NURand.
    pub c_id: i32,
    /// Number of lines of the order: 5 to 15. The lines after them are all zeros.
    pub ol_cnt: i32,
    /// The lines; use [`lines`](Self::lines).
    pub all_lines: [Line; MAX_LINES],
    /// True if the last line's item is unused, so that the order is rolled back once all other
    /// lines are processed: one order in a hundred.
    pub rolls_back: bool,
}

/// A line of a New-Order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// The item, by NURand; equal items within an order are lawful.
    pub ol_i_id: i32,
    /// The supplying warehouse: another one than home in one line of a hundred.
    pub ol_supply_w_id: i32,
    /// 1 to 10.
    pub ol_quantity: i32,
}

impl NewOrder {
    /// The order's lines, by ol_number from 1.
    #[must_use]
    pub fn lines(&self) -> &[Line] {
        &self.all_lines[..self.ol_cnt as usize]
    }

    /// Number of lines that another warehouse supplies.
    #[must_use]
    pub fn remote_lines(&self) -> usize {
        self.lines().iter().filter(|line| line.ol_supply_w_id != self.w_id).count()
    }

    /// o_all_local: true if every line is supplied from home.
    #[must_use]
    pub fn is_all_local(&self) -> bool {
        self.remote_lines() == 0
    }
}

/// Key by which a customer is selected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CustomerBy {
    /// Selection by c_id.
    Id(i32),
    /// Selection by last name: of the rows with this name, ordered by c_first, the one at ⌈n/2⌉, from 1.
    LastName(LastName),
}

impl CustomerBy {
    /// True for a customer named by last name.
    #[must_use]
    pub const fn is_by_name(&self) -> bool {
        matches!(self, Self::LastName(_))
    }
}

/// Inputs of a Payment (clause 2.5.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Payment {
    /// The warehouse paid: the user's home.
    pub w_id: i32,
    /// The district paid: 1 to 10.
    pub d_id: i32,
    /// The customer's warehouse: home, or another one in 15 of 100.
    pub c_w_id: i32,
    /// The customer's district: d_id at home, any in another warehouse.
    pub c_d_id: i32,
    /// The customer: by last name in 60 of 100.
    pub customer: CustomerBy,
    /// 1.00 to 5,000.00.
    pub h_amount: Hundredths,
}

impl Payment {
    /// True if the customer is of another warehouse.
    #[must_use]
    pub const fn is_remote(&self) -> bool {
        self.c_w_id != self.w_id
    }
}

/// Inputs of an Order-Status (clause 2.6.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OrderStatus {
    /// The user's home warehouse.
    pub w_id: i32,
    /// 1 to 10.
    pub d_id: i32,
    /// The customer: by last name in 60 of 100.
    pub customer: CustomerBy,
}

/// Inputs of a Delivery (clause 2.7.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// The user's home warehouse.
    pub w_id: i32,
    /// 1 to 10.
    pub o_carrier_id: i32,
}

/// Inputs of a Stock-Level (clause 2.8.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StockLevel {
    /// The user's home warehouse.
    pub w_id: i32,
    /// The user's own district there, see [`Homes`](super::Homes).
    pub d_id: i32,
    /// 10 to 20.
    pub threshold: i32,
}
