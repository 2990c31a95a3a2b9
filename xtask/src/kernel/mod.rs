//! Tests in a virtual machine: `cargo xtask kernel` boots Debian's kernel under QEMU, with the program inside, and lets it prove what this kind of
//! host cannot. Lists.

mod caches;
mod case;
mod disk;
mod groups;
mod image;
mod inside;
mod limits;
mod log_writes;
mod machine;
mod network;
mod policies;
mod programs;
mod run;
mod snapshots;
mod tier_server;
mod ublk;

pub(crate) use run::run;
