//! The paper as Typst source.

mod blocks;
mod inline;
mod layout;
mod source;
mod table;

pub(crate) use source::{About, typst};
