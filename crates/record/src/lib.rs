//! The record: one append-only SQLite file per study; the only reader and writer of it.
