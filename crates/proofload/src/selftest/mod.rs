//! The self-test of an engine: runs its parts, keeps what they told in a sealed document. Lists and re-exports.

mod document;
mod local;
mod run;

pub(crate) use document::{check, is_passed, unknown_form};
pub(crate) use run::{Refusal, SelftestOrder, run};
