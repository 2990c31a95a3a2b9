//! The five published studies beside the records of their quick repetitions. Lists and re-exports.

mod description;
mod measured;
mod page;
mod repeat;
mod run;
mod verdict;

pub(crate) use run::run;
