//! The engine contract and one folder per engine.
//!
//! An engine knows how to connect, run prepared statements, load rows and describe a local instance.
//! It may not know pacing, statistics or a workload's SQL.

pub mod conformance;
pub mod contract;
pub mod engines;
pub mod tiers;

pub use contract::*;
pub use engines::{AnyDocuments, AnySession, ENGINES, engine, place_settings, place_settings_with_room};
