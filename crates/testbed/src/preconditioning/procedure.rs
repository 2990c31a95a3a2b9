//! The order of preconditioning: fills, passes, rounds until steady. What it finds is a fact, also when the drive never settles.

use super::access::{self, Access};
use super::job::{FILL_BLOCK, Job, Pattern};
use super::program::Fio;
use super::run::{JobOutput, run};
use super::scratch::Scratch;
use super::steady::judge;
use super::summary::{self, PreconditioningRun};
use super::target::Target;
use crate::guard::{self, DeviceUse};
use proofload_model::error::Error;
use proofload_model::step_count::{StepCount, StepUnit};
use proofload_model::units::{Bytes, PerSecond};
use proofload_model::wire::host::PreconditioningResult;
use proofload_model::wire::{DataLocation, Preconditioning};
use std::path::Path;
use std::time::Duration;

/// Hears what is being done, and how much of it.
type Progress<'a> = &'a dyn Fn(&str, Option<StepCount>);

/// What an operator can do without fio.
const WITHOUT_FIO: &str = "remove [storage.precondition] from the study";

/// Preconditions the file system of the study's folder by a file, which is removed afterwards, or a whole device, ALL OF WHOSE
/// DATA IS LOST. Takes hours on a large drive. The calling thread must not end before it.
///
/// Fails when fio is missing, when the folder has no room, when the guard refuses the device (every reason is named), and when
/// a fio run fails. A drive that does not become steady is a fact, not an error.
pub fn precondition(
    place: &DataLocation,
    how: &Preconditioning,
    progress: Progress<'_>,
) -> Result<PreconditioningResult, Error> {
    let fio = Fio::find(WITHOUT_FIO);
    if fio.is_err()
        && let Some(device) = &how.device
    {
        // What stands against the device weighs more than a program that is missing.
        let scratch = Scratch::open(Path::new(&place.folder))?;
        drop(guard::claim(device, how.device_confirmed.as_deref(), scratch.folder(), DeviceUse::Preconditioning)?);
    }
    precondition_with(&fio?, place, how, progress)
}

/// Why a device of this machine would be refused even if it were named twice; `None` when nothing stands against it. Writes nothing. `folder`:
/// the study's.
pub fn refusal(device: &str, folder: &Path) -> Option<String> {
    let folder = std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    guard::claim(device, Some(device), &folder, DeviceUse::Preconditioning).err().map(|error| error.to_string())
}

/// The same with a given fio.
fn precondition_with(
    fio: &Fio,
    place: &DataLocation,
    how: &Preconditioning,
    progress: Progress<'_>,
) -> Result<PreconditioningResult, Error> {
    check(how)?;
    let scratch = Scratch::open(Path::new(&place.folder))?;
    let done = match &how.device {
        Some(device) => {
            // Held to the end: while we hold it, nobody mounts it.
            let claim =
                guard::claim(device, how.device_confirmed.as_deref(), scratch.folder(), DeviceUse::Preconditioning)?;
            let target = Target::device(scratch.folder(), claim.node(), claim.size());
            let done = course(fio, &target, how, progress);
            drop(claim);
            done
        }
        None => {
            let target = Target::file(scratch.folder(), how.size);
            target.check_room("precondition with", "lower storage.precondition.size")?;
            course(fio, &target, how, progress)
        }
    };
    let done = done?;
    scratch.close()?;
    Ok(done)
}

/// Every fault of what is asked.
fn check(how: &Preconditioning) -> Result<(), Error> {
    let mut faults = Vec::new();
    if how.device.is_none() && how.size < FILL_BLOCK {
        faults.push(format!("storage.precondition.size is {}, but must be at least {FILL_BLOCK}", how.size));
    }
    if how.rounds_at_most > 0 && how.round < Duration::from_millis(1) {
        faults.push("storage.precondition.round must be above 0; a minute is usual".to_owned());
    }
    if faults.is_empty() { Ok(()) } else { Err(Error::new(format!("failed to precondition: {}", faults.join("; ")))) }
}

fn course(
    fio: &Fio,
    target: &Target,
    how: &Preconditioning,
    progress: Progress<'_>,
) -> Result<PreconditioningResult, Error> {
    let named = |error: Error| error.context(format!("failed to precondition {}", target.path().display()));
    let (access, first) = access::find(fio, target).map_err(named)?;
    let mut course = Course { fio, target, access: &access, progress, number: 0, kept: vec![first] };
    let fills = course.over_all("sequential-fill", Pattern::SequentialFill, how.sequential_fills).map_err(named)?;
    let passes = course.over_all("random-pass", Pattern::RandomPass, how.random_passes).map_err(named)?;
    let rounds = course.rounds(how.round, how.rounds_at_most).map_err(named)?;
    let kept = course.kept;
    let facts = summary::facts(&PreconditioningRun {
        fio,
        target,
        access: &access,
        how,
        fills: &fills,
        passes: &passes,
        rounds: &rounds,
    });
    Ok(PreconditioningResult { documents: kept.into_iter().map(|kept| (kept.name, kept.document)).collect(), facts })
}

/// The steps up to now.
struct Course<'a> {
    fio: &'a Fio,
    target: &'a Target,
    access: &'a Access,
    progress: Progress<'a>,
    number: u32,
    kept: Vec<JobOutput>,
}

impl Course<'_> {
    /// Runs a pattern over the whole size, `times` times.
    fn over_all(&mut self, name: &str, pattern: Pattern, times: u32) -> Result<Vec<JobOutput>, Error> {
        let whole = self.target.size();
        let mut all = Vec::new();
        for time in 1..=times {
            let what = format!("fio: {} {time} of {times}", name.replace('-', " "));
            let progress = self.progress;
            let tell = |done: Bytes| {
                progress(&what, Some(StepCount::of(done.0.min(whole.0), whole.0, StepUnit::Bytes)));
            };
            tell(Bytes(0));
            let kept = self.step(&format!("{name}-{time}"), pattern, &tell)?;
            tell(whole);
            all.push(kept);
        }
        Ok(all)
    }

    /// Rounds until the last ones are steady, or there are enough of them: writes per second of each.
    fn rounds(&mut self, length: Duration, at_most: u32) -> Result<Vec<PerSecond>, Error> {
        let mut rates = Vec::new();
        for round in 1..=at_most {
            let what = format!("fio: round {round} of at most {at_most}");
            let count = StepCount::of(u64::from(round - 1), u64::from(at_most), StepUnit::Rounds);
            (self.progress)(&what, Some(count));
            let kept = self.step(&format!("round-{round}"), Pattern::Round(length), &|_| ())?;
            rates.push(kept.moved.iops);
            if judge(&rates).is_some_and(|judgement| judgement.steady) {
                break;
            }
        }
        Ok(rates)
    }

    fn step(&mut self, name: &str, pattern: Pattern, progress: &dyn Fn(Bytes)) -> Result<JobOutput, Error> {
        let number = self.number + 1;
        let job = Job { name, number, pattern, access: self.access, target: self.target };
        let kept = run(self.fio, &job, progress).map_err(|error| error.context(name.replace('-', " ")))?;
        self.number = number;
        self.kept.push(kept.clone());
        Ok(kept)
    }
}

#[cfg(test)]
mod tests;
