//! A synthetic record: a memory sweep on a simulated machine whose curve is known. Made from a seed; no clock, no file.

#![allow(dead_code, reason = "each test file uses its own part of the support")]
#![allow(unused_imports, reason = "each test file uses its own part of the support")]

mod attempt;
mod catalogue;
mod key_value;
pub(crate) mod replicated;
mod study;
mod warehouse;

pub(crate) use key_value::{KeyValue, key_value};
pub(crate) use study::{Shape, judged_before, record, searched, shapes, unsettled};
pub(crate) use warehouse::{Appliance, histogram, warehouse};
