//! Tests of the machine alone.
