//! The population of a database: where every row stream starts.

use super::catalogue::Table;
use super::chunk::Chunk;
use super::content_hash::ContentHash;
use super::customers::{Customers, Histories};
use super::items::Items;
use super::orders::{NewOrders, OrderLines, Orders};
use super::rows::Row;
use super::stock::StockRows;
use super::value::Timestamp;
use super::warehouses::{Districts, Warehouses};
use crate::Seed;
use crate::tprocc::{CLoad, Profile, Scale};

/// The version of the rows and inputs drawn, for manifests: it changes whenever a golden row or
/// input does, and data of another version are unfit for a study.
pub const GENERATOR_VERSION: u32 = 1;

/// Label of the seeds of all rows.
const POPULATION: u64 = 0x50;

/// Everything the rows of a database depend on, and nothing else: what its manifest says.
///
/// The rows of a table in a warehouse depend on these values, the table and the warehouse; they
/// are the same in whatever order, thread or process they are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Population {
    /// The data's seed.
    pub seed: Seed,
    /// The rules.
    pub profile: Profile,
    /// The row counts.
    pub scale: Scale,
    /// The constant of last names at load.
    pub c_load: CLoad,
    /// The value of every date column, from the study and not from a clock, so that equal
    /// studies give equal data. (Clause 4.3.3.1 asks for the time of the system: declared.)
    pub loaded_at: Timestamp,
}

/// Rows that are drawn one after the other into the same place.
///
/// It is no [`Iterator`], because a row lives only until the next one is drawn; in return no row
/// is allocated or copied.
pub trait RowStream {
    /// The rows' type; it names their table.
    type Row: Row;

    /// The next row; `None` after the last one.
    fn next_row(&mut self) -> Option<&Self::Row>;
}

/// Something that takes the row streams of any table, as a loader does.
pub trait StreamVisitor {
    /// Error of the consumer.
    type Error;

    /// Takes all rows of one table of one chunk.
    fn visit<S: RowStream>(&mut self, rows: S) -> Result<(), Self::Error>;
}

impl Population {
    /// All rows of item.
    #[must_use]
    pub fn items(&self) -> Items {
        Items::new(self)
    }

    /// The one row of warehouse `w_id`, from 1.
    #[must_use]
    pub fn warehouse(&self, w_id: i32) -> Warehouses {
        Warehouses::new(self, w_id)
    }

    /// The ten districts of warehouse `w_id`, by d_id.
    #[must_use]
    pub fn districts(&self, w_id: i32) -> Districts {
        Districts::new(self, w_id)
    }

    /// The stock of warehouse `w_id`, by s_i_id.
    #[must_use]
    pub fn stock(&self, w_id: i32) -> StockRows {
        StockRows::new(self, w_id)
    }

    /// The customers of warehouse `w_id`, by (c_d_id, c_id).
    #[must_use]
    pub fn customers(&self, w_id: i32) -> Customers {
        Customers::new(self, w_id)
    }

    /// The history of warehouse `w_id`, by (h_c_d_id, h_c_id): one row per customer.
    #[must_use]
    pub fn histories(&self, w_id: i32) -> Histories {
        Histories::new(self, w_id)
    }

    /// The orders of warehouse `w_id`, by (o_d_id, o_id).
    #[must_use]
    pub fn orders(&self, w_id: i32) -> Orders {
        Orders::new(self, w_id)
    }

    /// The order lines of warehouse `w_id`, by (ol_d_id, ol_o_id, ol_number).
    #[must_use]
    pub fn order_lines(&self, w_id: i32) -> OrderLines {
        OrderLines::new(self, w_id)
    }

    /// The undelivered orders of warehouse `w_id`, by (no_d_id, no_o_id).
    #[must_use]
    pub fn new_orders(&self, w_id: i32) -> NewOrders {
        NewOrders::new(self, w_id)
    }

    /// Hands the rows of every table of `chunk` to `visitor`, table after table in the order of
    /// [`Chunk::tables`]; stops at its first error.
    pub fn visit<V: StreamVisitor>(&self, chunk: Chunk, visitor: &mut V) -> Result<(), V::Error> {
        match chunk {
            Chunk::Items => visitor.visit(self.items()),
            Chunk::WarehouseAndDistricts(w_id) => {
                visitor.visit(self.warehouse(w_id))?;
                visitor.visit(self.districts(w_id))
            }
            Chunk::Stock(w_id) => visitor.visit(self.stock(w_id)),
            Chunk::CustomersAndHistory(w_id) => {
                visitor.visit(self.customers(w_id))?;
                visitor.visit(self.histories(w_id))
            }
            Chunk::Orders(w_id) => {
                visitor.visit(self.orders(w_id))?;
                visitor.visit(self.order_lines(w_id))?;
                visitor.visit(self.new_orders(w_id))
            }
        }
    }

    /// The content hash of all rows of `chunk`, whatever their tables.
    #[must_use]
    pub fn content_hash(&self, chunk: Chunk) -> ContentHash {
        let mut hash = ContentHash::default();
        match self.visit(chunk, &mut hash) {
            Ok(()) => hash,
            Err(never) => match never {},
        }
    }

    /// The seed of all rows of `table`.
    pub(super) fn table_seed(&self, table: Table) -> Seed {
        self.seed.of(POPULATION).of(table.label())
    }

    /// The seed of the rows of `table` in warehouse `w_id`.
    pub(super) fn warehouse_seed(&self, table: Table, w_id: i32) -> Seed {
        self.table_seed(table).of(u64::from(w_id.unsigned_abs()))
    }
}

impl StreamVisitor for ContentHash {
    type Error = std::convert::Infallible;

    fn visit<S: RowStream>(&mut self, mut rows: S) -> Result<(), Self::Error> {
        while let Some(row) = rows.next_row() {
            self.add_row(row);
        }
        Ok(())
    }
}
