//! What a machine is: hardware, kernel, storage, tools. Observations only; judging them is `doctor`'s business. Lists and re-exports.

mod describe;
mod hardware;
mod kernel;
mod storage;
mod tools;

pub use describe::describe;
