//! A fixture: rows of one table, each read by its key, so that the tests add a workload as anyone would: by a folder and a line.

mod rows;
#[cfg(test)]
mod tests;
mod user;
mod workload;
mod workload_run;

pub use workload::ExampleRows;
