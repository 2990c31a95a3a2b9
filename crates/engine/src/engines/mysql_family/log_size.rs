//! Size of the server's own log: a small log has pages written for its sake, which is then what is measured. The size is decided once, by
//! the data that were just built, lies in their snapshot, and stays through every later start: a server whose log has another size than
//! its configuration makes it anew, of blocks that were never written, and after a crash inside the outage. A study that sets the size
//! overrules it.

use super::configuration::{FILE, canonical};
use super::flavour::Flavour;
use crate::contract::Error;
use std::fs::DirEntry;
use std::path::Path;

const MIB: u64 = 1 << 20;
/// The least, and the step: data that differ by little have the same.
const STEP_MIB: u64 = 512;
/// What every version of the family takes. Source: MySQL 8.0 reference manual, `innodb_redo_log_capacity`; MariaDB's limit is 512 GiB.
const MOST_MIB: u64 = 128 << 10;
/// Share of the data.
const PART: u64 = 4;

/// The size for data of so many bytes, MiB: a quarter of them, up to a whole step.
fn mebibytes(data: u64) -> u64 {
    let wanted = (data / PART).div_ceil(STEP_MIB * MIB) * STEP_MIB;
    wanted.clamp(STEP_MIB, MOST_MIB)
}

/// The size with which an instance starts, MiB: the one that its configuration has, else that for its data, of which a new instance has
/// few.
pub(super) fn at_start(flavour: &Flavour, folder: &Path) -> u64 {
    let text = std::fs::read_to_string(folder.join(FILE)).unwrap_or_default();
    standing(flavour, &text).unwrap_or_else(|| mebibytes(data_bytes(folder)))
}

/// The configuration with the size for the data that a folder has; `None` where it has it, or a study sets the size.
pub(super) fn after_build(
    flavour: &Flavour,
    folder: &Path,
    settings: &[(String, String)],
) -> Result<Option<String>, Error> {
    let name = flavour.instance.log_size;
    let is_it = |given: &str| {
        let plain = canonical(given);
        plain.strip_prefix("loose_").unwrap_or(&plain) == name
    };
    if settings.iter().any(|(given, _)| is_it(given)) {
        return Ok(None);
    }
    let file = folder.join(FILE);
    let unread = |why: &dyn std::fmt::Display| {
        Error::other(format!("failed to read the size of the log from {}: {why}; build the data again", file.display()))
    };
    let text = std::fs::read_to_string(&file).map_err(|error| unread(&error))?;
    let stands = standing(flavour, &text).ok_or_else(|| unread(&format!("it has no line of {name} in MiB")))?;
    let wanted = mebibytes(data_bytes(folder));
    Ok((wanted > stands).then(|| text.replacen(&line(name, stands), &line(name, wanted), 1)))
}

/// The size that a configuration of ours has, MiB: of its first line of that name, since those of a study come later.
fn standing(flavour: &Flavour, text: &str) -> Option<u64> {
    let size = |line: &str| {
        line.strip_prefix(flavour.instance.log_size)?.strip_prefix(" = ")?.strip_suffix('M')?.parse::<u64>().ok()
    };
    text.lines().find_map(size)
}

fn line(name: &str, mebibytes: u64) -> String {
    format!("{name} = {mebibytes}M")
}

/// Bytes of the tables that stand in a data folder and in the folders of its databases; nothing where it cannot be read, as before the first start.
fn data_bytes(folder: &Path) -> u64 {
    let mut bytes = 0;
    for entry in entries(folder) {
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        bytes += if is_folder {
            entries(&entry.path()).map(|table| of_tables(&table)).sum::<u64>()
        } else {
            of_tables(&entry)
        };
    }
    bytes
}

fn entries(folder: &Path) -> impl Iterator<Item = DirEntry> {
    std::fs::read_dir(folder).into_iter().flatten().flatten()
}

/// Bytes of a file that holds tables; 0 of any other, such as the log itself.
fn of_tables(file: &DirEntry) -> u64 {
    let name = file.file_name();
    let Some(name) = name.to_str() else { return 0 };
    let holds_tables = Path::new(name).extension().is_some_and(|ending| ending == "ibd") || name.starts_with("ibdata");
    let about = file.metadata().ok().filter(|about| holds_tables && about.is_file());
    about.map_or(0, |about| about.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_is_a_quarter_of_the_data_in_whole_steps() {
        const GIB: u64 = 1 << 30;
        for (data, expected) in [(0, 512), (2 * GIB, 512), (2 * GIB + 4, 1024), (20 * GIB, 5120), (1 << 44, MOST_MIB)] {
            assert_eq!(mebibytes(data), expected, "{data} bytes");
        }
    }

    #[test]
    fn tables_are_data_and_logs_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, bytes: u64| {
            let file = folder.path().join(path);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::File::create(file).unwrap().set_len(bytes).unwrap();
        };
        assert_eq!(data_bytes(&folder.path().join("absent")), 0);
        write("ibdata1", 1 << 20);
        write("ib_logfile0", 1 << 22);
        write("binlog.000001", 1 << 22);
        write("proofload/stock.ibd", 3 << 20);
        write("proofload/stock.frm", 5);
        write("#innodb_redo/#ib_redo0", 1 << 22);
        assert_eq!(data_bytes(folder.path()), 4 << 20);
    }
}
