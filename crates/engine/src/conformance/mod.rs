//! The conformance suite: what every engine with SQL sessions must keep of the contract, checked on a real database. Called by the tests on
//! servers of their own, and by the self-test on a reader's server. Lists and re-exports.

mod bench;
mod bulk;
mod checks;
mod expect;
mod settings;
mod transactions;
mod values;
mod words;

pub use bench::Bench;
pub use checks::{CHECKS, CheckResult, ContractCheck};
pub use words::Words;
