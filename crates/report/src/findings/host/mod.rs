//! The host: what others took of it while a run was measured.

pub(super) mod claims;
pub(super) mod device_requests;
pub(super) mod disturbance;
pub(super) mod foreign_requests;
pub(super) mod spin_probe;
pub(super) mod steal;
