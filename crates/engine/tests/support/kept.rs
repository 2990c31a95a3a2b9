//! Servers that tests of one process use one after another: to create one costs more than most of these tests do.
//! Each is used by one place at a time, which finds no database of an earlier one; their keepers end them after the process.

use super::server::Server;
use proofload_engine::{Engine, Session as _, Target};
use proofload_model::wire::DataLocation;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use tempfile::TempDir;

/// A server that nobody uses now.
pub(super) struct Kept {
    pub(super) engine: &'static str,
    /// Declared before the folder: stopped before its files go.
    pub(super) server: Server,
    pub(super) folder: TempDir,
}

static KEPT: Mutex<Vec<Kept>> = Mutex::new(Vec::new());

/// Keeps a server for the next place.
pub(super) fn keep(kept: Kept) {
    KEPT.lock().unwrap_or_else(PoisonError::into_inner).push(kept);
}

/// A kept server of the engine, without a database.
pub(super) fn take(engine: &'static dyn Engine) -> Option<Kept> {
    let name = engine.facts().name;
    let kept = {
        let mut all = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
        let place = all.iter().position(|kept| kept.engine == name)?;
        all.swap_remove(place)
    };
    let (ours, other, drop) = match name {
        "postgresql" => ("dbname=proofload", "dbname=postgres", "DROP DATABASE IF EXISTS proofload WITH (FORCE)"),
        _ => ("/proofload?", "/mysql?", "SET lock_wait_timeout = 30; DROP DATABASE IF EXISTS proofload"),
    };
    assert!(kept.server.address.contains(ours), "{}", kept.server.address);
    let address = kept.server.address.replace(ours, other);
    let target = Target::new(location(engine, kept.folder.path(), Vec::new()), Some(address));
    // On a thread of its own, since a test may have a runtime already.
    let dropping = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async { engine.connect(&target).await?.script(drop).await })
    });
    dropping.join().expect("it does not panic").expect("a kept server drops its database");
    Some(kept)
}

/// Settings of a server that is kept: its commits do not wait for the drive. What was committed outlasts the end of a process, and no test ends
/// a machine.
pub(super) fn settings(engine: &dyn Engine) -> &'static [(&'static str, &'static str)] {
    match engine.facts().name {
        "postgresql" => &[("fsync", "off")],
        "mariadb" | "mysql" => &[("innodb_flush_log_at_trx_commit", "2")],
        _ => &[],
    }
}

/// Data of an engine in a folder of the test.
pub(super) fn location(engine: &dyn Engine, folder: &Path, settings: Vec<(String, String)>) -> DataLocation {
    let (engine, folder) = (engine.facts().name.to_owned(), folder.display().to_string());
    DataLocation { engine, folder, url: None, settings, tier: None }
}
