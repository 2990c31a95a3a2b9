//! A table as a file of Apache Parquet, written here: optional flat columns, plain values, pages packed by gzip. What other programs
//! may rely on stands in docs/guides/exporting.md; the format in apache/parquet-format.

mod chunk;
mod compact;
mod file;
mod footer;

pub use file::write_parquet;
