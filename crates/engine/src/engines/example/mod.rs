//! A fixture: SQLite under another name, so that the tests add an engine as anyone would: by a folder, a line and suites.

mod engine;

pub use engine::Example;
