//! Volumes as block devices of the kernel that a process serves (ublk), without a file system or a loop device between. Lists.

mod abi;
mod control;
mod device;
mod kernel;
mod leftovers;
mod mailbox;
mod mark;
mod queue;
mod request;

pub use device::UblkDevice;
