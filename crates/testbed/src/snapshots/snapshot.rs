//! A snapshot: a copy of the stopped data. Whole or absent at any instant: names change last, and the label after them.

use super::contents::{Contents, damaged};
use super::copy::{CopyTally, contents_of, copy_to_all};
use super::discarded::{expect_kept, renewed};
use super::folder::{data_folder, expect_ours};
use proofload_model::error::Error;
use proofload_model::time::Clock;
use proofload_model::units::Bytes;
use proofload_model::wire::host::SnapshotCopy;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// Copies the stopped data to the snapshot, and notes what its files contain. It has no label afterwards. Refuses data that were discarded.
pub(crate) fn save(folder: &Path, clock: &dyn Clock) -> Result<SnapshotCopy, Error> {
    expect_ours(folder)?;
    expect_kept(folder, "save a snapshot")?;
    remove_file(&label_file(folder))?;
    let begun = clock.now();
    let snapshot = snapshot_folder(folder);
    let tallies = replace(&data_folder(folder), std::slice::from_ref(&snapshot), |_| Ok(()))?;
    let tally = tallies.into_iter().next().unwrap_or_default();
    let contents = if tally.contents.is_hashed() { tally.contents.clone() } else { contents_of(&snapshot)? };
    let file = contents_file(folder);
    let written = fs::write(&file, contents.text()).and_then(|()| File::open(&file)?.sync_all());
    written.map_err(|error| Error::new(format!("failed to write {}: {error}", file.display())))?;
    Ok(SnapshotCopy { bytes: Bytes(tally.bytes), method: method(&tally), took: clock.now().since(begun) })
}

/// Says that the snapshot is whole, and of what.
pub(crate) fn label(folder: &Path, label: &str) -> Result<(), Error> {
    expect_ours(folder)?;
    let (draft, file) = (folder.join("snapshot.label-draft"), label_file(folder));
    let write = || {
        fs::write(&draft, label)?;
        File::open(&draft)?.sync_all()?;
        fs::rename(&draft, &file)?;
        File::open(folder)?.sync_all()
    };
    write().map_err(|error| Error::new(format!("failed to write {}: {error}", file.display())))
}

/// Whether there is a whole snapshot with this label.
pub(crate) fn find(folder: &Path, label: &str) -> bool {
    snapshot_folder(folder).is_dir() && fs::read_to_string(label_file(folder)).is_ok_and(|found| found == label)
}

/// Replaces the data of each folder by the snapshot of `from`, whose files must contain what was saved. Each file is read once; those
/// whose blocks are shared are compared by size, since nothing reads them.
pub(crate) fn restore(from: &Path, folders: &[&Path], clock: &dyn Clock) -> Result<Vec<SnapshotCopy>, Error> {
    expect_ours(from)?;
    folders.iter().try_for_each(|folder| expect_ours(folder))?;
    if !label_file(from).exists() {
        return Err(Error::new(format!("{} has no complete snapshot to restore", from.display())));
    }
    let begun = clock.now();
    let expected = |contents: &Contents| match fs::read_to_string(contents_file(from)) {
        Ok(noted) => contents.expect(&noted).map_err(|difference| damaged(from, &difference)),
        // A snapshot of an earlier version has no list.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(damaged(from, &format!("its file list cannot be read: {error}"))),
    };
    let data: Vec<PathBuf> = folders.iter().map(|folder| data_folder(folder)).collect();
    let tallies = replace(&snapshot_folder(from), &data, expected)?;
    folders.iter().try_for_each(|folder| renewed(folder))?;
    let took = clock.now().since(begun);
    let copied = |tally: CopyTally| SnapshotCopy { bytes: Bytes(tally.bytes), method: method(&tally), took };
    Ok(tallies.into_iter().map(copied).collect())
}

/// Copies `from` to each place under a name of its own, then gives each its name, unless `check` refuses its contents. What was there goes
/// first: it can be had again.
fn replace(
    from: &Path,
    places: &[PathBuf],
    check: impl Fn(&Contents) -> Result<(), Error>,
) -> Result<Vec<CopyTally>, Error> {
    let drafts: Vec<PathBuf> = places.iter().map(|place| draft_of(place)).collect();
    drafts.iter().chain(places).try_for_each(|folder| remove_folder(folder))?;
    let tallies = copy_to_all(from, &drafts)?;
    if let Err(error) = tallies.iter().try_for_each(|tally| check(&tally.contents)) {
        drafts.iter().try_for_each(|draft| remove_folder(draft))?;
        return Err(error);
    }
    for (draft, place) in drafts.iter().zip(places) {
        fs::rename(draft, place)
            .map_err(|error| Error::new(format!("failed to rename {}: {error}", place.display())))?;
        if let Some(parent) = place.parent() {
            let synced = File::open(parent).and_then(|folder| folder.sync_all());
            synced.map_err(|error| Error::new(format!("failed to sync {}: {error}", parent.display())))?;
        }
    }
    Ok(tallies)
}

/// Removes what a copy left that was killed; answers with what there was.
pub(crate) fn remove_drafts(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    expect_ours(folder)?;
    let drafts = [data_folder(folder), snapshot_folder(folder)].map(|whole| draft_of(&whole));
    let found: Vec<PathBuf> = drafts.into_iter().filter(|draft| draft.exists()).collect();
    found.iter().try_for_each(|draft| remove_folder(draft))?;
    Ok(found)
}

/// Removes the data, to begin anew.
pub(crate) fn remove_data(folder: &Path) -> Result<(), Error> {
    expect_ours(folder)?;
    remove_folder(&data_folder(folder))?;
    renewed(folder)
}

fn draft_of(whole: &Path) -> PathBuf {
    whole.with_extension("draft")
}

fn method(tally: &CopyTally) -> String {
    match tally.shared {
        0 => "copy".to_owned(),
        shared if shared == tally.files => "reflink".to_owned(),
        shared => format!("reflink of {shared} of {} files, copy of the rest", tally.files),
    }
}

/// Folder of the copy.
pub(crate) fn snapshot_folder(folder: &Path) -> PathBuf {
    folder.join("snapshot")
}

fn label_file(folder: &Path) -> PathBuf {
    folder.join("snapshot.label")
}

/// Sizes and hashes of the snapshot's files.
fn contents_file(folder: &Path) -> PathBuf {
    folder.join("snapshot.files")
}

fn remove_folder(folder: &Path) -> Result<(), Error> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Error::new(format!("failed to remove {}: {error}", folder.display())))
        }
        _ => Ok(()),
    }
}

fn remove_file(file: &Path) -> Result<(), Error> {
    match fs::remove_file(file) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Error::new(format!("failed to remove {}: {error}", file.display())))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::discarded::{are_discarded, discard};
    use super::super::folder::claim;
    use super::*;
    use proofload_model::time::{Moment, WallTime};
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::time::Duration;

    struct Still;

    impl Clock for Still {
        fn now(&self) -> Moment {
            Moment(0)
        }
        fn wall(&self) -> WallTime {
            WallTime(0)
        }
        fn sleep(&self, _time: Duration) {}
    }

    fn study() -> tempfile::TempDir {
        let place = tempfile::tempdir().unwrap();
        claim(place.path()).unwrap();
        let data = data_folder(place.path());
        fs::create_dir_all(data.join("base/1")).unwrap();
        fs::write(data.join("base/1/table"), vec![7; 300_000]).unwrap();
        fs::write(data.join("secret"), "x").unwrap();
        fs::set_permissions(data.join("secret"), fs::Permissions::from_mode(0o600)).unwrap();
        fs::set_permissions(&data, fs::Permissions::from_mode(0o700)).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", data.join("link")).unwrap();
        place
    }

    #[test]
    fn what_was_saved_comes_back_with_rights_and_links() {
        let place = study();
        let data = data_folder(place.path());
        let copied = save(place.path(), &Still).unwrap();
        assert_eq!(copied.bytes, Bytes(300_001));
        label(place.path(), "sqlite w=1").unwrap();
        fs::write(data.join("base/1/table"), "spoiled").unwrap();
        fs::write(data.join("new"), "new").unwrap();
        restore(place.path(), &[place.path()], &Still).unwrap();
        assert_eq!(fs::read(data.join("base/1/table")).unwrap(), vec![7; 300_000]);
        assert!(!data.join("new").exists());
        assert_eq!(fs::metadata(data.join("secret")).unwrap().mode() & 0o777, 0o600);
        assert_eq!(fs::metadata(&data).unwrap().mode() & 0o777, 0o700);
        assert_eq!(fs::read_link(data.join("link")).unwrap(), PathBuf::from("/etc/passwd"));
    }

    /// 32 MiB in a file: more than a file system takes for its own book-keeping.
    #[test]
    fn where_blocks_are_shared_a_snapshot_takes_no_room_and_says_so() {
        let place = study();
        let (one, two) = (place.path().join("one"), place.path().join("two"));
        fs::write(&one, "x").unwrap();
        if !crate::sys::clone_file(&File::open(&one).unwrap(), &File::create(&two).unwrap()) {
            println!("SKIPPED: the file system of {} shares no blocks", place.path().display());
            return;
        }
        let rows = data_folder(place.path()).join("rows");
        fs::write(&rows, vec![3; 32 << 20]).unwrap();
        let free = || {
            crate::sys::sync_file_system(place.path()).unwrap();
            crate::sys::space_at(place.path()).unwrap().available.0
        };
        let before = free();
        assert_eq!(save(place.path(), &Still).unwrap().method, "reflink");
        label(place.path(), "a").unwrap();
        assert!(before.saturating_sub(free()) < 8 << 20, "{before} bytes were free, {} are", free());
        fs::write(&rows, "changed").unwrap();
        assert_eq!(restore(place.path(), &[place.path()], &Still).unwrap()[0].method, "reflink");
        assert_eq!(fs::read(&rows).unwrap(), vec![3; 32 << 20]);
    }

    #[test]
    fn a_snapshot_is_restored_elsewhere_and_stays() {
        let (place, other) = (study(), tempfile::tempdir().unwrap());
        save(place.path(), &Still).unwrap();
        label(place.path(), "a").unwrap();
        assert!(
            restore(place.path(), &[other.path()], &Still)
                .unwrap_err()
                .to_string()
                .contains("not created by Proofload")
        );
        claim(other.path()).unwrap();
        restore(place.path(), &[other.path()], &Still).unwrap();
        assert_eq!(fs::read(data_folder(other.path()).join("base/1/table")).unwrap(), vec![7; 300_000]);
        assert!(find(place.path(), "a") && !find(other.path(), "a"));
    }

    #[test]
    fn a_snapshot_is_restored_to_several_folders_at_once() {
        let (place, other) = (study(), tempfile::tempdir().unwrap());
        claim(other.path()).unwrap();
        save(place.path(), &Still).unwrap();
        label(place.path(), "a").unwrap();
        for folder in [place.path(), other.path()] {
            fs::create_dir_all(data_folder(folder)).unwrap();
            fs::write(data_folder(folder).join("new"), "new").unwrap();
        }
        let copied = restore(place.path(), &[place.path(), other.path()], &Still).unwrap();
        assert_eq!(copied.iter().map(|one| one.bytes).collect::<Vec<_>>(), [Bytes(300_001); 2]);
        for folder in [place.path(), other.path()] {
            let data = data_folder(folder);
            assert_eq!(fs::read(data.join("base/1/table")).unwrap(), vec![7; 300_000]);
            assert_eq!(fs::metadata(data.join("secret")).unwrap().mode() & 0o777, 0o600);
            assert_eq!(fs::metadata(&data).unwrap().mode() & 0o777, 0o700);
            assert_eq!(fs::read_link(data.join("link")).unwrap(), PathBuf::from("/etc/passwd"));
            assert!(!data.join("new").exists() && !draft_of(&data).exists());
        }
        fs::remove_file(snapshot_folder(place.path()).join("secret")).unwrap();
        let error = restore(place.path(), &[place.path(), other.path()], &Still).unwrap_err().to_string();
        assert!(error.contains("secret is missing"), "{error}");
        for folder in [place.path(), other.path()] {
            assert!(!data_folder(folder).exists() && !draft_of(&data_folder(folder)).exists(), "of neither");
        }
    }

    #[test]
    fn discarded_data_become_no_snapshot_until_they_are_others() {
        let place = study();
        save(place.path(), &Still).unwrap();
        label(place.path(), "a").unwrap();
        discard(place.path()).unwrap();
        let error = save(place.path(), &Still).unwrap_err();
        assert!(error.to_string().contains("was ended at once, and its data were discarded"), "{error}");
        assert!(find(place.path(), "a"), "the snapshot that there is stays");
        restore(place.path(), &[place.path()], &Still).unwrap();
        assert!(!are_discarded(place.path()));
        save(place.path(), &Still).unwrap();
        discard(place.path()).unwrap();
        let error = restore(place.path(), &[place.path()], &Still).unwrap_err();
        assert!(error.to_string().contains("no complete snapshot") && are_discarded(place.path()), "{error}");
        remove_data(place.path()).unwrap();
        assert!(!are_discarded(place.path()), "there are none");
    }

    #[test]
    fn a_snapshot_counts_only_with_its_own_label() {
        let place = study();
        assert!(!find(place.path(), "a"));
        assert!(
            restore(place.path(), &[place.path()], &Still).unwrap_err().to_string().contains("no complete snapshot")
        );
        save(place.path(), &Still).unwrap();
        assert!(!find(place.path(), "a"), "saved, and the kill came before the label");
        label(place.path(), "a").unwrap();
        assert!(find(place.path(), "a") && !find(place.path(), "b"));
        save(place.path(), &Still).unwrap();
        assert!(!find(place.path(), "a"), "an old label says nothing of a new copy");
    }

    #[test]
    fn a_damaged_snapshot_is_not_restored_and_the_file_is_named() {
        let place = study();
        let shares = save(place.path(), &Still).unwrap().method == "reflink";
        label(place.path(), "a").unwrap();
        let table = snapshot_folder(place.path()).join("base/1/table");
        let mut bytes = fs::read(&table).unwrap();
        // Where blocks are shared nothing is read, so that only sizes are compared.
        if shares {
            bytes.pop();
        } else {
            bytes[150_000] ^= 1;
        }
        fs::write(&table, bytes).unwrap();
        let error = restore(place.path(), &[place.path()], &Still).unwrap_err().to_string();
        let expected = if shares { "base/1/table has 299999 bytes" } else { "the content of base/1/table has changed" };
        assert!(error.contains(expected), "{error}");
        assert!(error.contains("delete that folder"), "{error}");
        assert!(!data_folder(place.path()).exists() && !draft_of(&data_folder(place.path())).exists());
        fs::remove_file(&table).unwrap();
        let error = restore(place.path(), &[place.path()], &Still).unwrap_err().to_string();
        assert!(error.contains("base/1/table is missing"), "{error}");
    }

    #[test]
    fn what_a_killed_copy_left_is_removed() {
        let place = study();
        assert_eq!(remove_drafts(place.path()).unwrap(), Vec::<PathBuf>::new());
        let draft = place.path().join("snapshot.draft");
        fs::create_dir(&draft).unwrap();
        assert_eq!(remove_drafts(place.path()).unwrap(), std::slice::from_ref(&draft));
        assert!(!draft.exists() && data_folder(place.path()).exists());
    }

    #[test]
    fn a_folder_that_is_not_ours_is_not_touched() {
        let place = study();
        fs::remove_file(place.path().join(".proofload")).unwrap();
        for done in [
            save(place.path(), &Still).map(|_| ()),
            restore(place.path(), &[place.path()], &Still).map(|_| ()),
            label(place.path(), "x"),
        ] {
            assert!(done.unwrap_err().to_string().contains("not created by Proofload"));
        }
        assert!(data_folder(place.path()).join("secret").exists());
    }
}
