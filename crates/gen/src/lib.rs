//! Deterministic data, keys and parameters; no I/O.
