//! The engine contract and one folder per engine.
