//! What a report says differently of each workload: names, units of work, columns, definitions. Constants only; may
//! not compute anything from a record.

mod generic;
mod tprocc;
mod warehouse;
mod workload;
mod ycsb;

pub use workload::{
    ABSENT, Clocks, CountedKind, GIVEN, PacedRules, SPEC, WORKLOADS, Work, Workload, named_profile, profile, workload,
};
