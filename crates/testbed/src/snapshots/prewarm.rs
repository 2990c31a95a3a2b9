//! Reads the data once in order, under the limits of their instance, so that a run does not begin with an empty page cache. What does not fit
//! into its memory is pushed out again; pages belong to the group that read them.

use crate::preconditioning::Within;
use crate::sys::{self, Spawn};
use proofload_model::error::Error;
use std::fs::{self, OpenOptions};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Program that reads files in order; every system has it.
const READER: &str = "/bin/cat";

/// SIGKILL: the reader has nothing to save.
const KILL: i32 = 9;

/// Files given to one reader: far fewer than an argument list holds.
const AT_ONCE: usize = 2_000;

/// How often files are read before a failure is an error: the second time what was there is in memory.
const TRIES: u32 = 3;

/// Reads every file below `folder`, in which a server may run; answers with their bytes.
pub(crate) fn prewarm(folder: &Path, within: Within) -> Result<u64, Error> {
    let (mut files, mut bytes) = (Vec::new(), 0);
    fs::metadata(folder).map_err(|error| Error::new(format!("failed to inspect {}: {error}", folder.display())))?;
    collect(folder, &mut files, &mut bytes)?;
    files.sort();
    let failed = |error: std::io::Error| Error::new(format!("failed to prewarm {}: {error}", folder.display()));
    let nowhere = OpenOptions::new().write(true).open("/dev/null").map_err(failed)?;
    files.chunks(AT_ONCE).try_for_each(|some| read_what_is_there(folder, some, &within, &nowhere))?;
    Ok(bytes)
}

/// Reads files of which some may be gone, since a server that runs removes files: after a failure those that are still there.
fn read_what_is_there(folder: &Path, files: &[String], within: &Within, nowhere: &fs::File) -> Result<(), Error> {
    let (mut outcome, mut there) = (Ok(()), files.to_vec());
    for _ in 0..TRIES {
        outcome = read_all(folder, &there, within, nowhere);
        if outcome.is_ok() {
            break;
        }
        there.retain(|file| Path::new(file).exists());
    }
    outcome
}

fn read_all(folder: &Path, files: &[String], within: &Within, nowhere: &fs::File) -> Result<(), Error> {
    if files.is_empty() {
        return Ok(());
    }
    let failed = |error: std::io::Error| Error::new(format!("failed to prewarm {}: {error}", folder.display()));
    let groups = within.groups.iter().map(fs::File::try_clone).collect::<Result<_, _>>().map_err(failed)?;
    let mut reader = sys::spawn(Spawn {
        program: Path::new(READER),
        arguments: files,
        environment: &[],
        folder,
        log: nowhere,
        groups,
        cores: within.cores.clone(),
        user: None,
        at_our_death: KILL,
    })?;
    let status = reader.wait().map_err(failed)?;
    if !status.success() {
        return Err(Error::new(format!("failed to prewarm {}: {READER} exited with {status}", folder.display())));
    }
    Ok(())
}

fn collect(folder: &Path, files: &mut Vec<String>, bytes: &mut u64) -> Result<(), Error> {
    let failed = |path: PathBuf| {
        move |error: std::io::Error| Error::new(format!("failed to inspect {}: {error}", path.display()))
    };
    let entries = match fs::read_dir(folder) {
        // A server that runs has removed it meanwhile.
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        found => found.map_err(failed(folder.to_owned()))?,
    };
    for entry in entries {
        let entry = entry.map_err(failed(folder.to_owned()))?;
        let kind = match entry.metadata() {
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            found => found.map_err(failed(entry.path()))?,
        };
        if kind.is_dir() {
            collect(&entry.path(), files, bytes)?;
        } else if kind.is_file() {
            let path = entry.path();
            let name = path
                .to_str()
                .ok_or_else(|| Error::new(format!("failed to read {}: its name is not valid text", path.display())))?;
            files.push(name.to_owned());
            *bytes += kind.len();
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_gone_is_passed_over_and_one_that_cannot_be_read_is_not() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("one"), [1; 100]).unwrap();
        let named = |names: [&str; 2]| names.map(|name| folder.path().join(name).display().to_string());
        let nowhere = OpenOptions::new().write(true).open("/dev/null").unwrap();
        let read = |names| read_what_is_there(folder.path(), &named(names), &Within::default(), &nowhere);
        assert!(read(["one", "gone"]).is_ok() && read(["gone", "gone too"]).is_ok());
        fs::create_dir(folder.path().join("a folder")).unwrap();
        assert!(read(["gone", "a folder"]).is_err(), "one that is gone excuses no other");
        let error = read(["one", "a folder"]).unwrap_err().to_string();
        assert!(error.starts_with("failed to prewarm") && error.contains("exited with exit status"), "{error}");
    }

    #[test]
    fn every_file_is_given_to_the_reader_and_its_bytes_are_told() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("base")).unwrap();
        fs::write(folder.path().join("one"), [1; 100]).unwrap();
        fs::write(folder.path().join("base/two"), [2; 50]).unwrap();
        assert_eq!(prewarm(folder.path(), Within::default()).unwrap(), 150);
        let missing = prewarm(&folder.path().join("nothing"), Within::default()).unwrap_err().to_string();
        assert!(missing.starts_with("failed to inspect") && missing.contains("nothing"), "{missing}");
    }
}
