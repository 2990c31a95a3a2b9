//! Synced writes under the limits of an instance, beside its data, and how long they take. They overwrite a file that is there, so that
//! each of 8 KiB is one request to the device.

use crate::limits::AppliedLimits;
use crate::sys::{self, Spawn};
use proofload_model::error::Error;
use proofload_model::time::Clock;
use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::sync::mpsc::sync_channel;
use std::time::Duration;

/// Program that writes; every system has it.
const WRITER: &str = "/bin/dd";

/// SIGKILL: the writer has nothing to save.
const KILL: i32 = 9;

/// Bytes of the smallest write.
pub(super) const BLOCK: usize = 8 << 10;

/// Name of the file, beside the data folder.
const FILE: &str = "synced-writes";

/// Writes of one size, in bytes, one after another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct WriteBatch {
    pub(super) count: u32,
    pub(super) block: usize,
}

impl WriteBatch {
    /// Batch of one write, of the smallest size.
    pub(super) const ONE: Self = Self { count: 1, block: BLOCK };
}

/// Where they are carried out.
pub(super) struct SyncedWrites<'a> {
    pub(super) limits: &'a AppliedLimits,
    pub(super) data: &'a Path,
    pub(super) clock: &'a dyn Clock,
}

/// The file of the writes to data in a folder.
pub(super) fn file(data: &Path) -> PathBuf {
    data.with_file_name(FILE)
}

impl SyncedWrites<'_> {
    /// Carries out a batch; the time that they took, or `None` where they had not ended within a time. Then they end with the limit.
    ///
    /// # Errors
    /// They cannot be begun, or fail.
    pub(super) fn carry_out(&self, batch: WriteBatch, within: Duration) -> Result<Option<Duration>, Error> {
        let WriteBatch { count, block } = batch;
        let file = file(self.data);
        let folder = file.parent().unwrap_or(self.data).to_owned();
        let failed = |error: std::io::Error| Error::new(format!("failed to write to {}: {error}", file.display()));
        let length = block * count as usize;
        if std::fs::metadata(&file).map_or(0, |found| found.len()) < length as u64 {
            // By us, who are under no limit.
            std::fs::write(&file, vec![0; length]).map_err(failed)?;
            OpenOptions::new().write(true).open(&file).and_then(|file| file.sync_all()).map_err(failed)?;
        }
        let (groups, cores) = self.limits.entrance()?;
        let nowhere = OpenOptions::new().write(true).open("/dev/null").map_err(failed)?;
        let arguments = [
            "if=/dev/zero",
            &format!("of={FILE}"),
            &format!("bs={block}"),
            &format!("count={count}"),
            "oflag=dsync",
            "conv=notrunc",
        ]
        .map(str::to_owned);
        let (begun, beginning) = sync_channel(1);
        let (ended, end) = sync_channel(1);
        let since = self.clock.now();
        // The thread lives as long as the writer, which the kernel may hold until the limit is lifted.
        std::thread::spawn(move || {
            let program = Path::new(WRITER);
            let environment = &[];
            let (log, folder) = (&nowhere, folder.as_path());
            let place = Spawn {
                program,
                arguments: &arguments,
                environment,
                folder,
                log,
                groups,
                cores,
                user: None,
                at_our_death: KILL,
            };
            match sys::spawn(place) {
                Err(error) => drop(begun.send(Err(error))),
                Ok(mut writer) => {
                    let _waits = begun.send(Ok(writer.id()));
                    let _gone = ended.send(writer.wait());
                }
            }
        });
        let broke_off = |_| Error::new("synced writes: the thread that starts them panicked");
        let writer = beginning.recv().map_err(broke_off)??;
        match end.recv_timeout(within) {
            Ok(Ok(status)) if status.success() => Ok(Some(self.clock.now().since(since))),
            Ok(Ok(status)) => {
                Err(Error::new(format!("synced writes to {}: {WRITER} ended with {status}", file.display())))
            }
            Ok(Err(error)) => Err(failed(error)),
            Err(_) => {
                sys::signal(writer, KILL);
                Ok(None)
            }
        }
    }
}
