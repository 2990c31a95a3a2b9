//! The studies that come with the program, embedded when it is built. To add one, make the file and add its line here.

/// A study file of the repository.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BuiltInStudy {
    /// Its folder below `studies/`: `quick` for minutes on a laptop, `papers` for the sizes of published studies.
    pub(crate) folder: &'static str,
    /// The name by which it is asked for: that of its file.
    pub(crate) name: &'static str,
    /// The file.
    pub(crate) text: &'static str,
}

/// A line of the list.
macro_rules! study {
    ($folder:literal, $name:literal) => {
        BuiltInStudy {
            folder: $folder,
            name: $name,
            text: include_str!(concat!("../studies/", $folder, "/", $name, ".toml")),
        }
    };
}

/// Every study, in the order in which a newcomer may want them.
pub(crate) const STUDIES: &[BuiltInStudy] = &[
    study!("quick", "memory-sweep"),
    study!("quick", "memory-sweep-postgresql"),
    study!("quick", "memory-sweep-mariadb"),
    study!("quick", "search-users"),
    study!("quick", "search-users-mariadb"),
    study!("quick", "key-value"),
    study!("quick", "key-value-mariadb"),
    study!("quick", "key-value-engines"),
    study!("quick", "warehouse"),
    study!("quick", "warehouse-postgresql"),
    study!("quick", "warehouse-mariadb"),
    study!("quick", "warehouse-mariadb-joins"),
    study!("quick", "cache-tier"),
    study!("quick", "cache-tier-postgresql"),
    study!("quick", "departures"),
    study!("quick", "availability"),
    study!("quick", "availability-network"),
    study!("quick", "availability-drills"),
    study!("quick", "availability-mariadb"),
    study!("quick", "availability-drills-mariadb"),
    study!("quick", "availability-patroni"),
    study!("quick", "availability-pg-auto-failover"),
    study!("papers", "sn861-memory-sweep"),
    study!("papers", "das-cache"),
    study!("papers", "xd6-mongodb-ycsb"),
    study!("papers", "9100-max-availability"),
    study!("papers", "dwft-36tb"),
    study!("papers", "sn861-memory-sweep-sqlserver"),
    study!("papers", "9100-max-availability-sqlserver"),
    study!("papers", "dwft-36tb-sqlserver"),
];

/// The study of a name, with or without its folder and ending.
pub(crate) fn study(name: &str) -> Option<&'static BuiltInStudy> {
    let name = name.strip_suffix(".toml").unwrap_or(name);
    let is_meant = |study: &&BuiltInStudy| {
        name == study.name || name.split_once('/').is_some_and(|named| named == (study.folder, study.name))
    };
    STUDIES.iter().find(is_meant)
}

/// The study whose name is nearest to one that has none, in whatever case; `None` where none is near.
pub(crate) fn nearest(name: &str) -> Option<&'static BuiltInStudy> {
    let name = name.to_lowercase();
    let name = name.strip_suffix(".toml").unwrap_or(&name);
    let name = name.rsplit('/').next().unwrap_or(name);
    let near = STUDIES.iter().map(|study| (distance(name, study.name), study));
    let (edits, study) = near.min_by_key(|(edits, _)| *edits)?;
    (edits <= 1 + name.chars().count() / 5).then_some(study)
}

/// Letters to insert, remove or replace to make one word of the other (Levenshtein's distance).
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (line, letter) in one.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = line + 1;
        for (column, theirs) in other.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != *theirs);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::path::Path;

    #[test]
    fn every_file_is_listed_once() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../studies");
        let folders = std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir());
        let files = folders.flat_map(|folder| std::fs::read_dir(folder).unwrap()).map(|entry| entry.unwrap().path());
        let there: BTreeSet<(String, String)> = files
            .filter(|path| path.extension().is_some_and(|ending| ending == "toml"))
            .map(|path| {
                let folder = path.parent().and_then(Path::file_name).unwrap().to_string_lossy().into_owned();
                (folder, path.file_stem().unwrap().to_string_lossy().into_owned())
            })
            .collect();
        let listed: Vec<(String, String)> =
            STUDIES.iter().map(|study| (study.folder.to_owned(), study.name.to_owned())).collect();
        assert_eq!(listed.iter().cloned().collect::<BTreeSet<_>>(), there);
        assert_eq!(listed.len(), there.len(), "one is listed twice");
        let names: BTreeSet<&str> = STUDIES.iter().map(|study| study.name).collect();
        assert_eq!(names.len(), STUDIES.len(), "two have one name");
    }

    #[test]
    fn a_name_with_a_letter_wrong_is_near_one() {
        let near = |name: &str| nearest(name).map(|study| study.name);
        assert_eq!(near("memry-sweep"), Some("memory-sweep"));
        assert_eq!(near("quick/warehous.toml"), Some("warehouse"));
        assert_eq!(near("MEMORY-SWEEP"), Some("memory-sweep"));
        assert_eq!((near("nothing"), near("nosuch"), near("")), (None, None, None));
    }

    #[test]
    fn a_study_is_found_by_its_name_or_its_path() {
        for name in ["key-value", "quick/key-value", "key-value.toml", "quick/key-value.toml"] {
            assert_eq!(study(name).map(|study| study.name), Some("key-value"), "{name}");
        }
        assert!(study("papers/key-value").is_none() && study("key").is_none());
    }
}
