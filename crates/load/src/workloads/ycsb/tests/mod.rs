//! The workload on real engines.
