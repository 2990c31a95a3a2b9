//! Chunks: the parts in which a database is loaded, each whole or absent.

use super::catalogue::Table;

/// A part of the population that is loaded in one database transaction.
///
/// A warehouse is named by its w_id, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Chunk {
    /// All of item.
    Items,
    /// The warehouse and its districts.
    WarehouseAndDistricts(i32),
    /// The warehouse's stock.
    Stock(i32),
    /// The warehouse's customers and their history.
    CustomersAndHistory(i32),
    /// The warehouse's orders, their lines and the queue of the undelivered ones.
    Orders(i32),
}

impl Chunk {
    /// Every chunk of a database of so many warehouses: item first, then warehouse by
    /// warehouse, the larger parts of each first.
    pub fn all(warehouses: i32) -> impl Iterator<Item = Self> {
        let of_warehouse = |w_id| {
            [Self::CustomersAndHistory(w_id), Self::Stock(w_id), Self::Orders(w_id), Self::WarehouseAndDistricts(w_id)]
        };
        std::iter::once(Self::Items).chain((1..=warehouses).flat_map(of_warehouse))
    }

    /// The warehouse; `None` for item.
    #[must_use]
    pub const fn warehouse(self) -> Option<i32> {
        match self {
            Self::Items => None,
            Self::WarehouseAndDistricts(w_id)
            | Self::Stock(w_id)
            | Self::CustomersAndHistory(w_id)
            | Self::Orders(w_id) => Some(w_id),
        }
    }

    /// The name of the part in manifests, without the warehouse.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Items => "item",
            Self::WarehouseAndDistricts(_) => "warehouse",
            Self::Stock(_) => "stock",
            Self::CustomersAndHistory(_) => "customer",
            Self::Orders(_) => "orders",
        }
    }

    /// The tables whose rows the chunk holds.
    #[must_use]
    pub const fn tables(self) -> &'static [Table] {
        match self {
            Self::Items => &[Table::Item],
            Self::WarehouseAndDistricts(_) => &[Table::Warehouse, Table::District],
            Self::Stock(_) => &[Table::Stock],
            Self::CustomersAndHistory(_) => &[Table::Customer, Table::History],
            Self::Orders(_) => &[Table::Orders, Table::OrderLine, Table::NewOrder],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_cover_each_table_of_each_warehouse_once() {
        let chunks: Vec<Chunk> = Chunk::all(3).collect();
        assert_eq!(chunks.len(), 1 + 3 * 4);
        for table in Table::ALL {
            let mut homes: Vec<Option<i32>> =
                chunks.iter().filter(|chunk| chunk.tables().contains(&table)).map(|chunk| chunk.warehouse()).collect();
            homes.sort_unstable();
            let expected = if table == Table::Item { vec![None] } else { vec![Some(1), Some(2), Some(3)] };
            assert_eq!(homes, expected, "{}", table.name());
        }
    }
}
