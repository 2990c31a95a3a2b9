//! The proofload command.
fn main() {}
