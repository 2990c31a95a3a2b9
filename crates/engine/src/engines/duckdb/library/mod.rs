//! DuckDB's C API behind safe types: the only place of this crate for `unsafe`. Nothing outside sees a raw pointer.
//! Knows nothing of the contract: texts of errors leave it as DuckDB wrote them. Source: DuckDB's `duckdb.h`, version 1.5.
#![expect(unsafe_code, reason = "a library that is found at run time can only be called through raw function pointers")]

mod appender;
mod column;
mod connection;
mod database;
mod functions;
mod load;
mod rows;
mod statement;

#[cfg(test)]
pub(super) use column::Width;
pub(super) use column::{VectorCell, VectorKind};
pub(super) use connection::Connection;
pub(super) use database::{Configuration, Database};
pub(super) use load::{LoadFailure, LoadedLibrary, load};
pub(super) use rows::Rows;
pub(super) use statement::{BindValue, PreparedStatement};
