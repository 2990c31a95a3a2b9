//! How fast the file system of the study's folder reads in order, around the page cache, by fio: what scans are compared with. May
//! not judge it.

use super::access;
use super::job::{FILL_BLOCK, Job, Pattern};
use super::program::Fio;
use super::run::{JobOutput, Within, run, run_within};
use super::scratch::Scratch;
use super::target::Target;
use proofload_model::error::Error;
use proofload_model::step_count::{StepCount, StepUnit};
use proofload_model::units::{Bytes, BytesPerSecond, duration_text};
use proofload_model::wire::host::ReadsMeasured;
use std::path::Path;
use std::time::Duration;

/// What an operator can do without a calibration of the device.
const OTHERWISE: &str = "set workload.calibrate to \"none\"";

/// Order to read a file.
pub(crate) struct ToRead<'a> {
    /// The study's folder; the file lies in it and is removed afterwards.
    pub(crate) folder: &'a Path,
    /// Size of the file.
    pub(crate) size: Bytes,
    /// How long it is read, over and over.
    pub(crate) time: Duration,
}

/// Writes a file without limits, then reads it `within` limits. Fails without fio, without room, and where reads cannot go around the page
/// cache: they would measure memory. The calling thread must not end before it.
pub(crate) fn measure_reads(
    read: &ToRead<'_>,
    within: Within,
    progress: &dyn Fn(&str, Option<StepCount>),
) -> Result<ReadsMeasured, Error> {
    let fio = Fio::find(OTHERWISE)?;
    let scratch = Scratch::open(read.folder)?;
    let target = Target::to_read(scratch.folder(), Bytes(read.size.0.max(FILL_BLOCK.0)));
    target.check_room("calibrate with", OTHERWISE)?;
    let measured = course(&fio, &target, read.time, within, progress);
    let measured = measured.map_err(|error| error.context(format!("failed to read {}", target.path().display())))?;
    scratch.close()?;
    Ok(measured)
}

fn course(
    fio: &Fio,
    target: &Target,
    time: Duration,
    within: Within,
    progress: &dyn Fn(&str, Option<StepCount>),
) -> Result<ReadsMeasured, Error> {
    let (access, first) = access::find(fio, target)?;
    if !access.direct || access.buffered_all_the_same {
        return Err(Error::new("its file system buffers direct reads, so memory would be measured instead"));
    }
    let whole = target.size();
    let job = |name, number, pattern| Job { name, number, pattern, access: &access, target };
    let what = "fio: writing the file to read";
    let filled = run(fio, &job("fill", 1, Pattern::SequentialFill), &|done: Bytes| {
        progress(what, Some(StepCount::of(done.0.min(whole.0), whole.0, StepUnit::Bytes)));
    })?;
    progress("fio: sequential reads", None);
    let reading = job("sequential-read", 2, Pattern::SequentialRead(time));
    let depth = reading.depth();
    let read = run_within(fio, &reading, within, &|_| ())?;
    let how = format!(
        "{}: sequential direct reads of 1MiB, {depth} in flight by {}, for {}, from a file of {whole}",
        fio.version,
        access.engine,
        duration_text(time)
    );
    let rate = BytesPerSecond(read.moved.bandwidth.0 as u64);
    let documents = [first, filled, read].map(|JobOutput { name, document, .. }| (name, document)).to_vec();
    Ok(ReadsMeasured { rate, how, documents })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_and_gone() {
        let here = tempfile::Builder::new().prefix("proofload-reads-").tempdir_in("/var/tmp").unwrap();
        // Long enough for a disk that stands still for a moment.
        let read = ToRead { folder: here.path(), size: Bytes::mebi(8), time: Duration::from_secs(2) };
        match measure_reads(&read, Within::default(), &|_, _| ()) {
            Ok(reads) => {
                assert!(reads.rate.0 > 100_000, "{reads:?}");
                assert!(reads.how.contains("from a file of 8MiB") && reads.documents.len() == 3, "{}", reads.how);
            }
            Err(error) => {
                let text = error.to_string();
                assert!(text.contains("fio is not installed") || text.contains("buffers reads"), "{text}");
                println!("SKIPPED: {text}");
            }
        }
        assert_eq!(std::fs::read_dir(here.path()).unwrap().count(), 0, "nothing stays behind");
    }
}
