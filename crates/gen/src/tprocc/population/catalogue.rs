//! The nine tables and their columns, as data.
//!
//! Names and order are those of clause 1.3; no types of any engine.

use super::rows::{Customer, District, History, Item, NewOrder, Order, OrderLine, Row, Stock, Warehouse};
use super::value::Kind;

/// A table of the schema. Discriminants are part of the seeds and the content hashes: they
/// never change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Table {
    /// W rows.
    Warehouse = 1,
    /// 10 rows per warehouse.
    District = 2,
    /// 30,000 rows per warehouse.
    Customer = 3,
    /// 30,000 rows per warehouse at load; no primary key.
    History = 4,
    /// 9,000 rows per warehouse at load.
    NewOrder = 5,
    /// 30,000 rows per warehouse at load.
    Orders = 6,
    /// About 300,000 rows per warehouse at load.
    OrderLine = 7,
    /// 100,000 rows, whatever W.
    Item = 8,
    /// 100,000 rows per warehouse.
    Stock = 9,
}

/// A column of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// The name, as in clause 1.3, in lower case.
    pub name: &'static str,
    /// The type of its values.
    pub kind: Kind,
    /// True if the column may be null.
    pub nullable: bool,
}

impl Table {
    /// Every table, in the order of clause 1.3.
    pub const ALL: [Self; 9] = [
        Self::Warehouse,
        Self::District,
        Self::Customer,
        Self::History,
        Self::NewOrder,
        Self::Orders,
        Self::OrderLine,
        Self::Item,
        Self::Stock,
    ];

    /// The name in SQL: `orders` and `new_order`, as `order` is a keyword.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Warehouse => "warehouse",
            Self::District => "district",
            Self::Customer => "customer",
            Self::History => "history",
            Self::NewOrder => "new_order",
            Self::Orders => "orders",
            Self::OrderLine => "order_line",
            Self::Item => "item",
            Self::Stock => "stock",
        }
    }

    /// The columns, in the order of clause 1.3 and of
    /// [`Row::for_each_value`](super::Row::for_each_value).
    #[must_use]
    pub const fn columns(self) -> &'static [Column] {
        match self {
            Self::Warehouse => Warehouse::COLUMNS,
            Self::District => District::COLUMNS,
            Self::Customer => Customer::COLUMNS,
            Self::History => History::COLUMNS,
            Self::NewOrder => NewOrder::COLUMNS,
            Self::Orders => Order::COLUMNS,
            Self::OrderLine => OrderLine::COLUMNS,
            Self::Item => Item::COLUMNS,
            Self::Stock => Stock::COLUMNS,
        }
    }

    /// Bytes per row without any overhead: the example of clause 4.2.2.
    #[must_use]
    pub const fn row_bytes(self) -> u64 {
        match self {
            Self::Warehouse => 89,
            Self::District => 95,
            Self::Customer => 655,
            Self::History => 46,
            Self::NewOrder => 8,
            Self::Orders => 24,
            Self::OrderLine => 54,
            Self::Item => 82,
            Self::Stock => 306,
        }
    }

    /// The label of this table's seeds.
    pub(super) const fn label(self) -> u64 {
        self as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_92_columns_of_clause_1_3_are_there() {
        let counts = Table::ALL.map(|table| (table.name(), table.columns().len()));
        assert_eq!(
            counts,
            [
                ("warehouse", 9),
                ("district", 11),
                ("customer", 21),
                ("history", 8),
                ("new_order", 3),
                ("orders", 8),
                ("order_line", 10),
                ("item", 5),
                ("stock", 17),
            ]
        );
        assert_eq!(counts.map(|(_, columns)| columns).iter().sum::<usize>(), 92);
    }

    #[test]
    fn only_delivery_columns_may_be_null() {
        let nullable: Vec<&str> = Table::ALL
            .iter()
            .flat_map(|table| table.columns())
            .filter(|column| column.nullable)
            .map(|column| column.name)
            .collect();
        assert_eq!(nullable, ["o_carrier_id", "ol_delivery_d"]);
    }
}
