//! Everything that asks the kernel directly: the only place for `unsafe` and for system calls. Lists and re-exports.

mod affinity;
mod direct;
mod files;
mod process;
mod roles;
mod segments;
mod slice;
mod spawn;

pub(crate) use affinity::{allowed_cores, restrict};
pub(crate) use direct::takes_direct;
pub(crate) use files::{allocate, clone_file, drop_cached, forget_inodes, set_owner, space_at, sync_file_system};
pub(crate) use process::{
    cpu_time, descendants, folder_of, is_root, is_running, is_stopped, kill_group, peer_has_closed, signal, start_time,
    threads, working_below,
};
pub(crate) use roles::{
    ThreadRoles, name_of_program, name_of_thread, role_of, role_of_thread, thread_time, without_number,
};
pub(crate) use segments::{ListedSegment, listed_segment, remove_segment};
pub(crate) use slice::{set_real_time, set_slice, slice, this_thread};
pub(crate) use spawn::{Spawn, spawn};
