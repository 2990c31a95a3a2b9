//! Number of rows of a warehouse.
//!
//! Studies use [`Scale::FULL`], the cardinalities of clause 1.2.1. [`Scale::TOY`] exists for
//! tests only; the manifest carries the scale's name, so that toy data cannot pass for full.

use crate::Error;
use crate::tprocc::population::Table;

/// Districts of a warehouse, whatever the scale: a stock row has one text per district.
pub const DISTRICTS_PER_WAREHOUSE: i32 = 10;

/// Row counts per warehouse or district and the ranges drawn over them.
///
/// It cannot be made outside this crate: the counts depend on each other (one order and one
/// history row per customer, three customers per last name).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Scale {
    /// The name in studies and manifests.
    pub name: &'static str,
    /// Rows of item, and of stock per warehouse.
    pub items: i32,
    /// Customers per district; also its orders and history rows at load.
    pub customers_per_district: i32,
    /// The newest orders of each district, which are undelivered at load.
    pub new_orders_per_district: i32,
    /// Different last names; each district has every one of them.
    pub last_names: i32,
    /// `A` of NURand over last names.
    pub last_name_a: i32,
    /// `A` of NURand over c_id.
    pub c_id_a: i32,
    /// `A` of NURand over ol_i_id.
    pub ol_i_id_a: i32,
}

impl Scale {
    /// The cardinalities of clauses 1.2.1 and 2.1.6.
    pub const FULL: Self = Self {
        name: "full",
        items: 100_000,
        customers_per_district: 3_000,
        new_orders_per_district: 900,
        last_names: 1_000,
        last_name_a: 255,
        c_id_a: 1_023,
        ol_i_id_a: 8_191,
    };

    /// One hundredth of everything, for tests: about 5,000 rows per warehouse. Its skew is of
    /// the same kind as the full scale's but not of the same size.
    pub const TOY: Self = Self {
        name: "toy",
        items: 1_000,
        customers_per_district: 30,
        new_orders_per_district: 9,
        last_names: 10,
        last_name_a: 3,
        c_id_a: 15,
        ol_i_id_a: 127,
    };

    /// The scale of this name, or an error that lists the known names.
    pub fn from_name(name: &str) -> Result<Self, Error> {
        [Self::FULL, Self::TOY]
            .into_iter()
            .find(|scale| scale.name == name)
            .ok_or_else(|| Error::unknown_name("scale", name, &[Self::FULL.name, Self::TOY.name]))
    }

    /// Orders per district at load, numbered from 1: one per customer.
    #[must_use]
    pub const fn orders_per_district(&self) -> i32 {
        self.customers_per_district
    }

    /// The newest order of each district that is delivered at load; the undelivered ones
    /// follow. 2,100 at full scale.
    #[must_use]
    pub const fn last_delivered_order(&self) -> i32 {
        self.orders_per_district() - self.new_orders_per_district
    }

    /// An item number that no item has: the unused one of a New-Order to be rolled back.
    #[must_use]
    pub const fn unused_item(&self) -> i32 {
        self.items + 1
    }

    /// Rows of `table` at load with this many warehouses; `None` for order_line, whose number depends on the seed (5 to
    /// 15 per order).
    #[must_use]
    pub const fn rows(&self, table: Table, warehouses: i32) -> Option<i64> {
        let warehouses = warehouses as i64;
        let districts = warehouses * DISTRICTS_PER_WAREHOUSE as i64;
        Some(match table {
            Table::Item => self.items as i64,
            Table::Warehouse => warehouses,
            Table::District => districts,
            Table::Stock => warehouses * self.items as i64,
            Table::Customer | Table::History => districts * self.customers_per_district as i64,
            Table::Orders => districts * self.orders_per_district() as i64,
            Table::NewOrder => districts * self.new_orders_per_district as i64,
            Table::OrderLine => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_scale_is_that_of_clause_1_2_1() {
        let rows = |table| Scale::FULL.rows(table, 10);
        assert_eq!(rows(Table::Warehouse), Some(10));
        assert_eq!(rows(Table::District), Some(100));
        assert_eq!(rows(Table::Customer), Some(300_000));
        assert_eq!(rows(Table::History), Some(300_000));
        assert_eq!(rows(Table::Orders), Some(300_000));
        assert_eq!(rows(Table::NewOrder), Some(90_000));
        assert_eq!(rows(Table::OrderLine), None);
        assert_eq!(rows(Table::Stock), Some(1_000_000));
        assert_eq!(rows(Table::Item), Some(100_000));
        assert_eq!(Scale::FULL.last_delivered_order(), 2_100);
    }

    #[test]
    fn counts_depend_on_each_other_at_every_scale() {
        for scale in [Scale::FULL, Scale::TOY] {
            assert_eq!(Scale::from_name(scale.name), Ok(scale));
            assert_eq!(scale.customers_per_district, 3 * scale.last_names);
            for (a, range) in [
                (scale.last_name_a, scale.last_names),
                (scale.c_id_a, scale.customers_per_district),
                (scale.ol_i_id_a, scale.items),
            ] {
                assert!((a + 1).cast_unsigned().is_power_of_two() && a < range);
            }
        }
        assert!(Scale::from_name("half").is_err());
    }
}
