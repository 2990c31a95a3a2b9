//! `cargo xtask tidy`: the rules of CONTRIBUTING.md that a machine can check, as one fast command.
//!
//! One file per rule, each a pure function from a [`tree::Tree`] to faults, listed in [`rules::RULES`]. A rule
//! reads no file and runs no program, so that its tests are small trees written in place.

mod rules;
mod run;
mod source;
mod tree;

mod anchors;
mod attributes;
mod clock;
mod contents;
mod dependencies;
mod engine_names;
mod english;
mod headers;
mod imports;
mod layers;
mod mod_files;
mod packages;
mod pages;
mod ratchet;
mod settings;
mod type_names;
mod unsafe_code;
mod unused;
mod words;

pub(crate) use run::run;
