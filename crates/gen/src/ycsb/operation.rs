//! One operation, as every client computes it from its index.

use super::mix::Kind;

/// One operation: its kind and its record. The values that it writes follow from the record, the field and the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Operation {
    /// Kind of operation.
    pub kind: Kind,
    /// The record, from 0: read, changed or added, or the one that a scan begins at.
    pub record: u64,
    /// The field, from 0, that a read or scan reads, or that an update or read-modify-write writes; `None` for all
    /// fields.
    pub field: Option<u16>,
    /// The field that is read: `field` of a read or scan, drawn apart for a read-modify-write; `None` for all
    /// fields, and for kinds that read nothing.
    pub read_field: Option<u16>,
    /// Records that a scan asks for; 0 for other kinds.
    pub scan_length: u32,
}
