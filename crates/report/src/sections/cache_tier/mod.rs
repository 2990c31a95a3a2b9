//! What a cache is worth: the section on cache tiers in parts, one file each. Lists and re-exports.

mod forecast;
mod over_time;
mod published;
mod section;
mod tables;

pub(super) use published::is_drawn as draws_published;
pub(super) use section::render;
