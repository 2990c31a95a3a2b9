//! Files to a reference: each by its own reader, then joined. Every fault of every file at once, or a reference.

use super::logs::{Logs, attach, point_of};
use super::source::{Fault, Faults, SourceFile};
use super::ycsb_text::ParsedFile;
use super::{go_ycsb, hdr_log, ycsb_text};
use crate::reference::{Origin, Reference, ReferencePoint};

/// What the imported results are called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Labels {
    /// Name of the reference, as its file is called.
    pub id: String,
    /// Title; `None` for one from the program that wrote the results.
    pub title: Option<String>,
}

/// Reads results of YCSB and go-ycsb and logs of HdrHistogram. Each result text becomes a point; logs belong to the one text
/// that they come with, or are a point of their own.
///
/// # Errors
/// Every fault of every file: foreign, partial, cut off, of different runs.
pub fn import(files: &[SourceFile], labels: &Labels) -> Result<Reference, Vec<Fault>> {
    let mut faults = Vec::new();
    let (mut texts, mut logs) = (Vec::new(), Logs::default());
    for (index, file) in files.iter().enumerate() {
        if let Some(twin) = files[..index].iter().find(|other| other.content == file.content) {
            let mut found = Faults::of(&file.name);
            found.whole(format!("same content as {}; each value would count twice", twin.name));
            faults.extend(found.or(()).err().unwrap_or_default());
            continue;
        }
        match read(file) {
            Ok(SourceContent::Text(parsed)) => texts.push((file.name.clone(), parsed)),
            Ok(SourceContent::Log(log)) => faults.extend(logs.join(log)),
            Err(found) => faults.extend(found),
        }
    }
    let joined = points(texts, &logs, &mut faults);
    if faults.is_empty() { Ok(reference(joined, labels)) } else { Err(faults) }
}

enum SourceContent {
    Text(ParsedFile),
    Log(std::collections::BTreeMap<String, hdr_log::MergedLog>),
}

fn read(file: &SourceFile) -> Result<SourceContent, Vec<Fault>> {
    let mut faults = Faults::of(&file.name);
    let Ok(text) = std::str::from_utf8(&file.content) else {
        faults.whole("not a text file; YCSB results and HdrHistogram logs are text");
        return Err(faults.or(()).err().unwrap_or_default());
    };
    if hdr_log::fits(text) {
        return hdr_log::read(&file.name, text).map(SourceContent::Log);
    }
    if ycsb_text::fits(text) {
        return ycsb_text::read(&file.name, text).map(SourceContent::Text);
    }
    if go_ycsb::fits(text) {
        return go_ycsb::read(&file.name, text).map(SourceContent::Text);
    }
    if is_property_file(text) {
        faults.whole("a YCSB property file has no results; make a study of it with --as study");
        return Err(faults.or(()).err().unwrap_or_default());
    }
    faults.whole(
        "unknown format: neither YCSB's text (`[OVERALL], RunTime(ms), …`) nor go-ycsb's (`READ - Takes(s): …`) nor an \
         HdrHistogram log (`#[Histogram log format version …]`)",
    );
    Err(faults.or(()).err().unwrap_or_default())
}

/// Whether a text has a property by which YCSB names a workload or the number of its records.
fn is_property_file(text: &str) -> bool {
    let mut names = text.lines().filter_map(|line| line.split_once('=')).map(|(name, _)| name.trim());
    names.any(|name| ["workload", "recordcount", "operationcount"].contains(&name))
}

/// Points and the programs that wrote them.
fn points(texts: Vec<(String, ParsedFile)>, logs: &Logs, faults: &mut Vec<Fault>) -> Vec<ParsedFile> {
    if texts.len() > 1 && !logs.is_empty() {
        let text = format!(
            "it is unclear which of the {} result texts the HDR logs belong to; import each run with its own logs",
            texts.len()
        );
        faults.push(Fault { file: String::new(), line: None, text });
        return Vec::new();
    }
    if texts.is_empty() && !logs.is_empty() {
        return vec![point_of(logs)];
    }
    let mut joined = Vec::new();
    for (file, mut parsed) in texts {
        faults.extend(attach(&file, &mut parsed.point, logs));
        parsed.point.name = stem(&file).to_owned();
        joined.push(parsed);
    }
    joined
}

/// A file's name without folders and ending.
fn stem(file: &str) -> &str {
    let name = file.rsplit('/').next().unwrap_or(file);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

fn reference(joined: Vec<ParsedFile>, labels: &Labels) -> Reference {
    let mut software: Vec<String> = joined.iter().map(|parsed| parsed.software.clone()).collect();
    software.dedup();
    let publisher = software.join(", ");
    let points: Vec<ReferencePoint> = joined.into_iter().map(|parsed| parsed.point).collect();
    Reference {
        id: labels.id.clone(),
        title: labels.title.clone().unwrap_or_else(|| format!("Results of {publisher}")),
        publisher,
        year: None,
        workload: Some("ycsb".to_owned()),
        compare: "throughput".to_owned(),
        relative_to: if points.len() > 1 { "the point with the largest throughput".to_owned() } else { String::new() },
        origin: Origin::Imported,
        record_sha256: None,
        hardware: Vec::new(),
        software,
        procedure: Vec::new(),
        notes: Vec::new(),
        points,
    }
}
