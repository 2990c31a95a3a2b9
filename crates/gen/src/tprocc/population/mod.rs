//! The rows of the nine tables at load (clause 4.3.3).

mod catalogue;
mod chunk;
mod content_hash;
mod customers;
mod items;
mod orders;
mod rows;
mod selection;
mod source;
mod stock;
mod value;
mod warehouses;

pub use catalogue::{Column, Table};
pub use chunk::Chunk;
pub use content_hash::{ContentHash, RowHash};
pub use customers::{Customers, Histories};
pub use items::Items;
pub use orders::{NewOrders, OrderLines, Orders};
pub use rows::{Customer, District, History, Item, NewOrder, Order, OrderLine, Row, Stock, ValueVisitor, Warehouse};
pub use source::{GENERATOR_VERSION, Population, RowStream, StreamVisitor};
pub use stock::StockRows;
pub use value::{Hundredths, Kind, TenThousandths, Timestamp, Value};
pub use warehouses::{Districts, Warehouses};
