//! A disk under an instance that becomes slow or stands still: lowered limits of the instance's control group. Undone before anything is
//! killed: a process that waits for a slow device ends too late.

use super::fault::{FaultMaker, FaultSite, expect};
use super::synced_writes::{BLOCK, SyncedWrites, WriteBatch};
use crate::limits::{Controller, WriteRate};
use proofload_model::drill::FaultKind;
use proofload_model::error::Error;
use proofload_model::fault_strength::FaultStrength;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::Duration;

/// Time that the synced writes take by which a rate is proved.
const PROVED_IN: Duration = Duration::from_millis(500);

/// Shortest time that a rate must imply for them: what takes less takes as long without it, and only the kernel's value is read.
const PROVED_FROM: Duration = Duration::from_millis(100);

/// Most bytes of them: they overwrite a file, which takes room beside the data.
const PROVED_BY_AT_MOST: usize = 64 << 20;

/// Bytes of the largest one that proves a rate of bytes: many small ones take as long without a limit.
const LARGEST: usize = 1 << 20;

/// Fewest of them that a rate of bytes holds back.
const FEWEST: usize = 4;

/// Share of the time that a rate implies which they must take: the kernel counts in slices of a tenth of a second.
const AT_LEAST: f64 = 0.7;

/// A synced write that has not ended after this time does not end.
const STALLED_AFTER: Duration = Duration::from_secs(1);

/// Bytes per second at which nothing moves, the least first: kernels differ in what they take.
const STALLED: [u64; 6] = [1, 2, 16, 128, 512, 1024];

/// The fault.
pub(super) enum Disk {
    Slow,
    Stalled,
}

impl FaultMaker for Disk {
    fn kind(&self) -> FaultKind {
        match self {
            Self::Slow => FaultKind::SlowDisk,
            Self::Stalled => FaultKind::DiskStall,
        }
    }

    fn make(&self, site: &FaultSite<'_>) -> Result<(), Error> {
        let limits = site.limits()?;
        let members = limits.group().dir(Controller::Io).map_err(|error| {
            Error::refused(format!(
                "failed to slow the disk down: {error}; this needs a control group, as for limits.write_iops"
            ))
        })?;
        let root = site.server()?.process();
        expect(members.members().contains(&root), || {
            "failed to slow the disk down: the server is not in its control group".to_owned()
        })?;
        match self {
            Self::Slow => limits.slow_writes(rate(site.strength)?),
            Self::Stalled => {
                refuse_shared(site.data)?;
                let all = STALLED.map(WriteRate::Bytes).into_iter();
                let taken = all.map(|rate| limits.slow_writes(rate).and_then(|()| limits.expect_writes(rate)));
                let mut refused = Ok(());
                for outcome in taken {
                    if outcome.is_ok() {
                        return Ok(());
                    }
                    refused = outcome;
                }
                refused
            }
        }
    }

    fn expect_in_force(&self, site: &FaultSite<'_>) -> Result<(), Error> {
        let limits = site.limits()?;
        let writes = SyncedWrites { limits, data: site.data, clock: site.clock };
        match self {
            Self::Slow => {
                let slow = rate(site.strength)?;
                limits.expect_writes(slow)?;
                let Some((batch, implied)) = proof(slow) else { return Ok(()) };
                // What has not ended by then is as slow as asked: others in the group write as well, and take turns away.
                let least = implied.mul_f64(AT_LEAST);
                let took = writes.carry_out(batch, least)?;
                expect(took.is_none_or(|took| took >= least), || {
                    let WriteBatch { count, block } = batch;
                    format!(
                        "{count} synced writes of {} KiB took {took:?}, but the limit implies {implied:?}",
                        block >> 10
                    )
                })
            }
            Self::Stalled => {
                // Where the host pauses, a write takes as long without a limit.
                let is_set = STALLED.iter().any(|rate| limits.expect_writes(WriteRate::Bytes(*rate)).is_ok());
                expect(is_set, || "the kernel has no write limit at which nothing moves".to_owned())?;
                let took = writes.carry_out(WriteBatch::ONE, STALLED_AFTER)?;
                expect(took.is_none(), || format!("a synced write of 8 KiB took {took:?}"))
            }
        }
    }

    fn undo(&self, site: &FaultSite<'_>) -> Result<(), Error> {
        site.limits()?.restore_writes()
    }

    fn expect_undone(&self, site: &FaultSite<'_>) -> Result<(), Error> {
        let limits = site.limits()?;
        limits.expect_restored_writes()?;
        let writes = SyncedWrites { limits, data: site.data, clock: site.clock };
        let took = writes.carry_out(WriteBatch::ONE, STALLED_AFTER * 10)?;
        expect(took.is_some(), || "a synced write of 8 KiB does not finish".to_owned())
    }
}

fn rate(strength: FaultStrength) -> Result<WriteRate, Error> {
    match strength {
        FaultStrength::WriteIops(rate) => Ok(WriteRate::Requests(u64::from(rate))),
        FaultStrength::WriteBandwidth(rate) => Ok(WriteRate::Bytes(rate.0)),
        other => {
            Err(Error::refused(format!("failed to slow the disk down: {other:?} is not a strength of a disk fault")))
        }
    }
}

/// Synced writes by which a rate is proved, and the time that it implies for them; `None` where it is too fast to show in them.
fn proof(rate: WriteRate) -> Option<(WriteBatch, Duration)> {
    let (block, per_second) = match rate {
        WriteRate::Requests(requests) => (BLOCK, requests as f64),
        WriteRate::Bytes(bytes) => {
            let share = (bytes as f64 * PROVED_IN.as_secs_f64()) as usize / FEWEST;
            let block = (share.min(LARGEST) / BLOCK).max(1) * BLOCK;
            (block, bytes as f64 / block as f64)
        }
    };
    // No study may ask for one in ten seconds or less.
    let per_second = per_second.max(0.1);
    // The first one waits for nobody.
    let most = (PROVED_BY_AT_MOST / block) as u32;
    let held_back = ((per_second * PROVED_IN.as_secs_f64()).ceil() as u32).clamp(1, most);
    let implied = Duration::from_secs_f64(f64::from(held_back) / per_second);
    (implied >= PROVED_FROM).then_some((WriteBatch { count: held_back + 1, block }, implied))
}

/// Refuses data on the file system of the machine: its journal waits for what stands still, and so does everybody.
fn refuse_shared(data: &Path) -> Result<(), Error> {
    let file_system = |path: &Path| {
        std::fs::metadata(path)
            .map(|found| found.dev())
            .map_err(|error| Error::new(format!("failed to inspect {}: {error}", path.display())))
    };
    if file_system(data)? != file_system(Path::new("/"))? {
        return Ok(());
    }
    Err(Error::refused(format!(
        "failed to stall the disk: {} is on the file system of the machine, and all programs that use it would stall; \
         set storage.volume, or set storage.path to a separate file system",
        data.display()
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_proved_by_as_many_writes_as_it_holds_back_for_half_a_second() {
        let millis = Duration::from_millis;
        let found = |rate: WriteRate| proof(rate).map(|(batch, implied)| (batch.count, batch.block >> 10, implied));
        assert_eq!(found(WriteRate::Requests(20)), Some((11, 8, millis(500))));
        assert_eq!(found(WriteRate::Requests(1)), Some((2, 8, millis(1_000))));
        assert_eq!(found(WriteRate::Bytes(64 << 10)), Some((5, 8, millis(500))));
        assert_eq!(found(WriteRate::Bytes(1 << 20)), Some((5, 128, millis(500))));
        assert_eq!(found(WriteRate::Bytes(64 << 20)), Some((33, 1024, millis(500))), "few large ones");
        assert_eq!(
            found(WriteRate::Bytes(256 << 20)),
            Some((65, 1024, millis(250))),
            "no more than 64 MiB are held back"
        );
        assert_eq!(found(WriteRate::Bytes(1 << 30)), None, "it takes as long without a limit");
    }
}
