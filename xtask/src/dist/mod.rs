//! `dist`: what a release hands out: binaries without symbols and their symbols beside them, archives, a Debian package, a Python wheel,
//! checksums. Equal sources and tools give equal bytes.

mod archive;
mod build;
mod deb;
mod licences;
mod paperwork;
mod product;
mod run;
mod target;
mod wheel;

pub(crate) use run::run;
