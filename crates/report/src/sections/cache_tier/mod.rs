//! What a cache is worth: the section on cache tiers in parts, one file each. Lists and re-exports.

mod answer;
mod forecast;
mod latencies;
mod medium;
mod over_time;
mod published;
mod section;
mod tables;

pub(super) use answer::answer;
pub(super) use published::is_drawn as draws_published;
pub(super) use section::SECTION;
