//! What a machine is: hardware, kernel, storage, tools. Observations only; judging them is `doctor`'s business. Lists and re-exports.

mod describe;
mod hardware;
mod kernel;
mod storage;
mod tools;

pub(crate) use describe::chosen;
pub use describe::describe;
pub(crate) use hardware::{available_memory, is_guest, memory};
pub(crate) use kernel::control_groups;
pub(crate) use storage::free;
pub(crate) use tools::fio_version;
