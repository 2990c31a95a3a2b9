//! Records in folders, and what a history keeps of each: evaluated once, then remembered in a cache that may be deleted at any time.

use crate::output;
use proofload_report::findings::history::{HistoryRecord, history_record};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::UNIX_EPOCH;

/// Ending of records.
const ENDING: &str = "proof";

/// Folders inside each other that are looked into.
const DEEPEST: usize = 16;

/// Files that are no baseline and are named.
const NAMED: usize = 8;

/// What was found in folders.
#[derive(Debug, Default)]
pub(super) struct FoundRecords {
    /// Records that could be read.
    pub(super) records: Vec<HistoryRecord>,
    /// Files that could not, and those that were changed after they were written, with reasons.
    pub(super) skipped: Vec<(String, String)>,
}

/// Why a file is no record of a history.
#[derive(Debug)]
enum SkipReason {
    /// It could not be read, or is still written.
    Unread(String),
    /// It is not as it was written.
    Changed(String),
}

impl SkipReason {
    fn into_text(self) -> String {
        match self {
            Self::Unread(why) => why,
            Self::Changed(fault) => format!("it was changed after it was written: {fault}"),
        }
    }
}

/// Reads every record in folders, each file once; the error names a folder that cannot be read.
pub(super) fn read_all(folders: &[PathBuf], with_cache: bool) -> Result<FoundRecords, String> {
    let mut files = Vec::new();
    for folder in folders {
        if folder.is_file() {
            files.push(folder.clone());
        } else {
            collect(folder, 0, &mut files)?;
        }
    }
    files.sort();
    files.dedup();
    let place = with_cache.then(cache_file).flatten();
    let cache = place.as_deref().map(read_cache).unwrap_or_default();
    let found = evaluate(files, &cache);
    if let Some(place) = place {
        // Without it the next time takes longer, nothing more.
        let _kept = write_cache(&place, cache, &found);
    }
    let mut all = FoundRecords::default();
    for (file, _, result) in found {
        match result {
            Ok(record) => all.records.push(HistoryRecord { file: file.display().to_string(), ..record }),
            Err(why) => all.skipped.push((file.display().to_string(), why.into_text())),
        }
    }
    Ok(all)
}

/// The newest intact record of a study with a result among those of a folder; the candidate's own file is left out. Files that could
/// not be read or were changed are named.
pub(super) fn newest(folder: &Path, candidate: &Path) -> Result<PathBuf, String> {
    let study = proofload_record::read(candidate).map_err(|error| error.to_string())?.study.name().to_owned();
    let own = candidate.canonicalize().ok();
    let all = read_all(&[folder.to_owned()], true)?;
    let of_study = all.records.into_iter().filter(|record| record.study == study && record.has_result());
    let mut others: Vec<HistoryRecord> =
        of_study.filter(|record| Path::new(&record.file).canonicalize().ok() != own).collect();
    others.sort_by(|a, b| (b.created, &b.file).cmp(&(a.created, &a.file)));
    all.skipped.iter().take(NAMED).for_each(|(file, why)| output::note(&format!("not a baseline: {file}: {why}")));
    if all.skipped.len() > NAMED {
        output::note(&format!("not a baseline: {} more files; proofload history tells why", all.skipped.len() - NAMED));
    }
    for record in others {
        let file = PathBuf::from(record.file);
        // Size and time of a file may be the same although it was changed: what judges is looked at, not remembered.
        match one(&file) {
            Ok(_) => return Ok(file),
            Err(why) => output::note(&format!("not a baseline: {}: {}", file.display(), why.into_text())),
        }
    }
    Err(format!("{} has no intact record of the study {study} with a result but the candidate", folder.display()))
}

fn collect(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) -> Result<(), String> {
    let wrong = |error: std::io::Error| format!("failed to read the folder {}: {error}", folder.display());
    for entry in std::fs::read_dir(folder).map_err(wrong)? {
        let entry = entry.map_err(wrong)?;
        let (path, kind) = (entry.path(), entry.file_type().map_err(wrong)?);
        if kind.is_dir() && depth < DEEPEST {
            collect(&path, depth + 1, files)?;
        } else if kind.is_file() && path.extension().is_some_and(|ending| ending == ENDING) {
            files.push(path);
        }
    }
    Ok(())
}

/// A file, what tells its content from an older one, and what it holds.
type EvaluatedFile = (PathBuf, FileState, Result<HistoryRecord, SkipReason>);

/// Size and time of the last change, µs since 1970.
type FileState = (u64, u64);

/// Remembered records by their whole path.
type Cache = BTreeMap<String, (FileState, HistoryRecord)>;

fn state(file: &Path) -> FileState {
    let Ok(about) = std::fs::metadata(file) else { return (0, 0) };
    let changed = about.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    (about.len(), changed.map_or(0, |since| since.as_micros() as u64))
}

fn key(file: &Path) -> String {
    file.canonicalize().unwrap_or_else(|_| file.to_owned()).display().to_string()
}

/// Evaluates files on all cores.
fn evaluate(files: Vec<PathBuf>, cache: &Cache) -> Vec<EvaluatedFile> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let queue = Mutex::new(files.into_iter().rev().collect::<Vec<PathBuf>>());
    let done = Mutex::new(Vec::new());
    let next = || queue.lock().ok().and_then(|mut queue| queue.pop());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(file) = next() {
                    let state = state(&file);
                    let result = match cache.get(&key(&file)) {
                        Some((known, record)) if *known == state => Ok(record.clone()),
                        _ => one(&file),
                    };
                    if let Ok(mut done) = done.lock() {
                        done.push((file, state, result));
                    }
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_default();
    done.sort_by(|a: &EvaluatedFile, b| a.0.cmp(&b.0));
    done
}

fn one(file: &Path) -> Result<HistoryRecord, SkipReason> {
    let record = proofload_record::read(file).map_err(|error| SkipReason::Unread(error.to_string()))?;
    if record.being_written {
        return Err(SkipReason::Unread("it is still being written".to_owned()));
    }
    if let Some(fault) = record.faults.first() {
        return Err(SkipReason::Changed(fault.clone()));
    }
    Ok(history_record(&file.display().to_string(), &record))
}

/// Where the cache is; `None` without a home.
fn cache_file() -> Option<PathBuf> {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let folder = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))?;
    Some(folder.join("proofload").join("history.jsonl"))
}

/// What this program writes in the first line; another version evaluates anew.
fn head() -> Value {
    json!({"proofload": env!("CARGO_PKG_VERSION"), "form": 4})
}

/// The cache; empty when it is missing, damaged or of another version.
fn read_cache(file: &Path) -> Cache {
    let Ok(text) = std::fs::read_to_string(file) else { return Cache::new() };
    let mut lines = text.lines();
    let first: Option<Value> = lines.next().and_then(|line| serde_json::from_str(line).ok());
    if first != Some(head()) {
        return Cache::new();
    }
    let line = |line: &str| serde_json::from_str::<(String, FileState, HistoryRecord)>(line).ok();
    lines.filter_map(line).map(|(file, state, record)| (file, (state, record))).collect()
}

/// Writes the cache anew beside the old one, and puts it in its place.
fn write_cache(file: &Path, mut cache: Cache, found: &[EvaluatedFile]) -> std::io::Result<()> {
    let before = cache.len();
    let mut changed = false;
    for (path, state, result) in found {
        if let Ok(record) = result {
            let old = cache.insert(key(path), (*state, record.clone()));
            changed |= old.is_none_or(|(known, _)| known != *state);
        }
    }
    cache.retain(|path, _| Path::new(path).exists());
    if !changed && cache.len() == before {
        return Ok(());
    }
    let folder = file.parent().ok_or_else(|| std::io::Error::other("the cache has no folder"))?;
    std::fs::create_dir_all(folder)?;
    let draft = folder.join(format!("history.{}.tmp", std::process::id()));
    let mut writer = std::io::BufWriter::new(std::fs::File::create(&draft)?);
    writeln!(writer, "{}", head())?;
    for (path, (state, record)) in &cache {
        writeln!(writer, "{}", json!([path, state, record]))?;
    }
    writer.flush()?;
    drop(writer);
    std::fs::rename(&draft, file)
}
