//! The one server of a comparison, and its CPU time.

use super::support::{Place, Special};
use proofload_engine::engine;
use std::path::{Path, PathBuf};

/// Settings beside those of any instance of ours.
const SETTINGS: &[(&str, &str)] = &[("shared_buffers", "1GiB"), ("max_wal_size", "8GiB"), ("max_connections", "200")];

/// A running PostgreSQL.
pub(crate) struct Server {
    pub(crate) place: Place,
    /// The folder of its socket.
    pub(crate) folder: PathBuf,
    pub(crate) port: u16,
    pub(crate) version: String,
    pid: u32,
}

/// Ticks of the kernel's CPU times per second, `USER_HZ`, the same on every Linux that Rust's standard library runs on.
pub(crate) const TICKS: f64 = 100.0;

impl Server {
    /// Starts it; the error says what is missing. It also listens on the loopback address for clients that cannot use its socket.
    pub(crate) fn start() -> Result<Self, String> {
        let postgresql = engine("postgresql").expect("it is registered");
        let version = postgresql.locate().map_err(|error| error.to_string())?.version;
        let listener = std::net::TcpListener::bind("127.0.0.1:0").map_err(|error| error.to_string())?;
        let port = listener.local_addr().map_err(|error| error.to_string())?.port();
        drop(listener);
        let added = [
            ("postgresql.conf", "listen_addresses = '127.0.0.1'\n".to_owned()),
            ("pg_hba.conf", "host all all 127.0.0.1/32 trust\n".to_owned()),
        ];
        let place = Place::new(postgresql, SETTINGS, &Special { prefix: "proofload-peers-", added: &added, port })?;
        let folder = Path::new(&place.target.place.folder).join("instance");
        let pid =
            postgresql.server().and_then(|recipe| recipe.running_pid(&folder)).ok_or("the server has no process")?;
        Ok(Self { place, folder, port, version, pid })
    }

    /// CPU time of the server's processes so far, those that have ended included, s.
    pub(crate) fn cpu(&self) -> f64 {
        let mut ticks = process(self.pid).map_or(0, |process| process.own + process.of_ended_children);
        for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
            let pid = entry.file_name().to_str().and_then(|name| name.parse().ok());
            let child = pid.and_then(process).filter(|process| process.parent == self.pid);
            ticks += child.map_or(0, |process| process.own);
        }
        ticks as f64 / TICKS
    }
}

/// CPU time of a process, ticks.
pub(crate) struct Process {
    parent: u32,
    own: u64,
    /// Of the children that it has waited for.
    pub(crate) of_ended_children: u64,
}

/// Reads `/proc/<pid>/stat`; none when there is no such process. Source: proc(5).
pub(crate) fn process(pid: u32) -> Option<Process> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name stands in brackets and may hold anything.
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let number = |place: usize| fields.get(place)?.parse::<u64>().ok();
    Some(Process {
        parent: u32::try_from(number(1)?).ok()?,
        own: number(11)? + number(12)?,
        of_ended_children: number(13)? + number(14)?,
    })
}
