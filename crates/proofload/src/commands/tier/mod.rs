//! Commands on pools of a cache tier and on records of studies on one, one file each. Lists them.

mod check;
mod cleaning;
mod devices;
mod dispatch;
mod drain;
mod drained;
mod dump;
mod ending;
mod format;
mod guarding;
mod kernel;
mod kernel_json;
mod kernel_text;
mod mounts;
mod predict;
mod resize;
mod serve;
mod slow;
mod stats;
mod stats_json;
mod stats_text;
mod stop;
mod ublk;
mod units;
mod warming;
mod words;

pub(super) use dispatch::run;
