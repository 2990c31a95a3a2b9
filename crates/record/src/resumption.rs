//! Opening a record to continue it, once it has proved itself. May not write rows.

use crate::compat::Format;
use crate::content::Record;
use crate::error::Error;
use crate::lock::Lock;
use crate::reader::{content_with, open_whole, sessions};
use crate::recorder::Recorder;
use crate::verification::{self, Proof};
use proofload_model::time::WallTime;
use rusqlite::Connection;
use std::path::Path;

impl Recorder {
    /// Opens a record to continue it, once it has proved itself: nothing is added to one whose runs are void for what they share. Rows of a
    /// single run that were changed make that run void, and no other.
    ///
    /// # Errors
    /// Damage, as [`crate::prove`] finds it, is told by [`Error::is_damaged`]; the file is then as it was.
    pub fn resume(path: &Path, program: &str, at: WallTime) -> Result<Self, Error> {
        let (lock, (connection, _), _) = proved(path)?;
        drop(connection);
        Self::open(path, lock, program, at)
    }

    /// Opens a record as [`Self::resume`] does, and reads what it held before: it is proved once for both.
    ///
    /// # Errors
    /// As those of [`Self::resume`] and of [`crate::read`]; the file is then as it was.
    pub fn resume_read(path: &Path, program: &str, at: WallTime) -> Result<(Self, Record), Error> {
        let (lock, (connection, format), proof) = proved(path)?;
        let mut record = content_with(&connection, format, path, &proof)?;
        drop(connection);
        let recorder = Self::open(path, lock, program, at)?;
        record.sessions = sessions(&recorder.connection)
            .map_err(|error| Error::sqlite(&format!("failed to read {}", path.display()), &error))?;
        Ok((recorder, record))
    }
}

/// Locks and proves a record; what proves itself cannot change under us.
fn proved(path: &Path) -> Result<(Lock, (Connection, Format), Proof), Error> {
    if !path.exists() {
        return Err(Error::other(format!("no such record: {}", path.display())));
    }
    let lock = Lock::take(path)?;
    let (connection, format) = open_whole(path)?;
    let proof = verification::prove(&connection, format).map_err(|error| error.of_file(path))?;
    if proof.shared {
        return Err(Error::damaged(format!(
            "{} was changed after it was written: {}; nothing was added to it; use another copy",
            path.display(),
            proof.faults.join("; ")
        )));
    }
    Ok((lock, (connection, format), proof))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verification::ROWS_PROVED;
    use crate::{Opening, read};
    use proofload_model::plan::expand;
    use proofload_model::samples::Fact;
    use proofload_model::settings::{Settings, Value};
    use proofload_model::study::Study;

    #[test]
    fn what_is_continued_is_proved_once_and_read_as_a_reader_finds_it() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("x.proof");
        let settings = Settings([("study.name".to_owned(), Value::Text("toy".to_owned()))].into());
        let study = Study { settings, factors: Vec::new() };
        let opening =
            Opening { study_text: "", study: &study, plan: &expand(&study), program: "test", at: WallTime(1) };
        let mut recorder = Recorder::create(&path, &opening).expect("an empty folder takes a record");
        let finished = recorder.begin_attempt(0, WallTime(2)).expect("it begins");
        recorder.facts(Some(finished), &[Fact::observed("host", "cores", "2", "test")]).expect("a fact fits");
        recorder.finish(finished, WallTime(3)).expect("it ends");
        recorder.begin_attempt(0, WallTime(4)).expect("it begins");
        recorder.commit().expect("it is durable");
        drop(recorder);
        let proved = |work: &dyn Fn()| {
            let before = ROWS_PROVED.get();
            work();
            ROWS_PROVED.get() - before
        };
        let once = proved(&|| drop(crate::prove(&path).expect("it is proved")));
        let continued = proved(&|| {
            let (_recorder, record) = Recorder::resume_read(&path, "test", WallTime(5)).expect("it goes on");
            assert_eq!((record.attempts.len(), record.sessions.len(), record.being_written), (2, 2, true));
        });
        assert_eq!(continued, once);
        let (_recorder, record) = Recorder::resume_read(&path, "test", WallTime(6)).expect("it goes on");
        assert_eq!(format!("{record:?}"), format!("{:?}", read(&path).expect("it is read")));
    }
}
