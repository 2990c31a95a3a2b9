//! Version on which a manifest and a reader of this module must agree.

/// Changes whenever equal settings give another key, value or operation than before.
pub const GENERATOR_VERSION: u32 = 1;

/// The skew of YCSB's zipfian choices of keys, values and scans, where it has one built in.
pub const YCSB_THETA: f64 = 0.99;
