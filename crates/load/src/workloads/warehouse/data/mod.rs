//! The data: tables, rows as the generator gives them, chunks, content. Knows no engine. Lists and re-exports.

mod chunk;
mod content;
mod date;
mod generate;
mod row;
mod tables;

pub(super) use chunk::{Chunk, ORDERS_PER_CHUNK, key_ranges};
pub(super) use content::Content;
pub(super) use date::{Date, parse_date};
pub use generate::generated;
pub(super) use generate::{GENERATOR, Rows};
pub(super) use row::{Cell, MOST_COLUMNS, Row};
pub(super) use tables::{Kind, Table};
