//! A cache tier under a server: its volumes are served as loop devices by a process of this program, and mounted where data and log lie. The
//! slow volume is the study's own volume, which is mounted without a tier while data are built, kept and put back. Lists and re-exports.

mod log_folder;
mod mounts;
mod needs;
mod served;
mod server_command;
mod tier_place;

pub(crate) use needs::{needs_and_file, needs_and_list};
pub(super) use served::{TierVolumes, sweep};
