//! Proofload's words, units, study file, plan, wire messages and record schema; pure.
