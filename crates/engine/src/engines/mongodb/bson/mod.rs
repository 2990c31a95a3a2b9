//! The part of BSON that commands and replies need, written and read as raw bytes in memory that is reused. Lists and
//! re-exports. Source: bsonspec.org, version 1.1.

mod element;
mod read;
mod write;

pub(super) use element::Element;
pub(super) use read::{Document, MalformedBson};
pub(super) use write::Writer;
