//! A volume without room: a ballast file takes all of it. Only on a volume of the study's own, never on a file system of others.

use super::fault::{FaultMaker, FaultSite, expect};
use crate::storages;
use crate::sys;
use proofload_model::drill::FaultKind;
use proofload_model::error::Error;
use proofload_model::units::Bytes;
use std::fs::File;
use std::path::{Path, PathBuf};

/// Room below which a volume is full.
const FULL: Bytes = Bytes(1 << 20);

/// Least ballast that is added at once.
const LEAST: u64 = 64 << 10;

/// Name of the file, beside the data folder.
const FILE: &str = "ballast";

/// The fault.
pub(super) struct FullDisk;

/// The ballast beside data in a folder.
pub(super) fn ballast(data: &Path) -> PathBuf {
    data.with_file_name(FILE)
}

impl FaultMaker for FullDisk {
    fn kind(&self) -> FaultKind {
        FaultKind::FullDisk
    }

    fn make(&self, site: &FaultSite<'_>) -> Result<(), Error> {
        storages::expect_own_volume(site.data).map_err(|error| error.context("failed to fill the disk"))?;
        // A server that finds no room for its log ends by itself.
        site.server()?.expect_end();
        fill(&ballast(site.data))
    }

    fn expect_in_force(&self, site: &FaultSite<'_>) -> Result<(), Error> {
        let room = sys::space_at(site.data)?.available;
        expect(room < FULL, || format!("{room} are still free"))
    }

    fn undo(&self, site: &FaultSite<'_>) -> Result<(), Error> {
        let removed = std::fs::remove_file(ballast(site.data));
        if let Some(server) = site.server {
            server.expect_to_serve();
        }
        match removed {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(Error::new(format!("failed to remove {}: {error}", ballast(site.data).display())))
            }
            _ => Ok(()),
        }
    }

    fn expect_undone(&self, site: &FaultSite<'_>) -> Result<(), Error> {
        let room = sys::space_at(site.data)?.available;
        expect(room >= FULL && !ballast(site.data).exists(), || format!("{room} are free"))
    }
}

/// Takes room until there is none.
fn fill(ballast: &Path) -> Result<(), Error> {
    let failed = |error: String| Error::new(format!("failed to create {}: {error}", ballast.display()));
    let file = File::options().create(true).append(true).open(ballast).map_err(|error| failed(error.to_string()))?;
    loop {
        let room = sys::space_at(ballast)?.available.0;
        let length = file.metadata().map_err(|error| failed(error.to_string()))?.len();
        // As much as goes at once: its own bookkeeping takes room as well.
        let mut more = room;
        while more >= LEAST && sys::allocate(&file, length, more).is_err() {
            more /= 2;
        }
        if more < LEAST {
            return Ok(());
        }
    }
}
