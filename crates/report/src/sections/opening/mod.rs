//! The first screen: verdict, answer, what held, what broke first and why, how sure that is, what is next, and the main figure. All of it is
//! computed from findings; a kind of study is a file and a line in `topics.rs`. May not judge anything.

mod cache_tier;
mod choice;
mod curve;
mod drills;
mod figure;
mod intervention;
mod next;
mod offered;
mod replication;
mod role;
mod screen;
mod search;
mod single;
mod sure;
mod topic;
mod topics;
mod verdict;
mod warehouse;
mod why;
mod words;

pub(in crate::sections) use drills::draws_drills;
pub(crate) use screen::opening;
pub(in crate::sections) use why::at as why_at;
pub(crate) use words::subtitle;
