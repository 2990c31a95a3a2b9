//! TPROC-C as its clauses define it, seen from outside the crate.

mod conditions;
mod departures;
mod golden;
mod inputs;
mod population;
mod statistics;
mod streams;
mod support;
