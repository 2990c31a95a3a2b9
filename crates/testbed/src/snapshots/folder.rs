//! Claiming a folder: ours from the start, or refused.

use proofload_model::error::Error;
use std::path::{Path, PathBuf};

/// File that says that a folder is ours.
const MARK: &str = ".proofload";

/// What the engine works on.
pub(crate) fn data_folder(folder: &Path) -> PathBuf {
    folder.join("data")
}

/// Makes the folder, or checks that it is ours. Refuses one that has content of somebody else.
pub(crate) fn claim(folder: &Path) -> Result<(), Error> {
    let failed =
        |what: &str, error: &std::io::Error| Error::new(format!("failed to {what} {}: {error}", folder.display()));
    std::fs::create_dir_all(folder).map_err(|error| failed("create the folder", &error))?;
    let mark = folder.join(MARK);
    if mark.exists() {
        return Ok(());
    }
    let mut entries = std::fs::read_dir(folder).map_err(|error| failed("inspect", &error))?;
    if entries.next().is_some() {
        return Err(Error::new(format!(
            "the folder {} is not empty and was not created by Proofload; choose another storage.path, or empty it",
            folder.display()
        )));
    }
    let text =
        "This folder belongs to Proofload: data and snapshot of a study. It can be deleted when no study is running.\n";
    std::fs::write(&mark, text).map_err(|error| failed("marking", &error))
}

/// Whether it is marked as ours.
pub(crate) fn is_ours(folder: &Path) -> bool {
    folder.join(MARK).exists()
}

/// Refuses a folder that is not marked as ours.
pub(super) fn expect_ours(folder: &Path) -> Result<(), Error> {
    if is_ours(folder) {
        return Ok(());
    }
    Err(Error::new(format!(
        "the folder {} was not created by Proofload (it has no {MARK}); nothing was changed",
        folder.display()
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_with_content_of_others_is_refused_and_left_alone() {
        let place = tempfile::tempdir().unwrap();
        let ours = place.path().join("a/b");
        claim(&ours).unwrap();
        claim(&ours).unwrap();
        expect_ours(&ours).unwrap();
        let theirs = place.path().join("theirs");
        std::fs::create_dir(&theirs).unwrap();
        std::fs::write(theirs.join("letter"), "dear").unwrap();
        assert!(claim(&theirs).unwrap_err().to_string().contains("not created by Proofload"));
        assert!(expect_ours(&theirs).is_err());
        assert_eq!(std::fs::read_dir(&theirs).unwrap().count(), 1);
    }
}
