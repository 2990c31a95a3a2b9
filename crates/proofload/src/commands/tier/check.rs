//! `tier check`: whether a pool that nobody serves is sound. It changes nothing.

use super::devices;
use super::units::{bytes, count, counted};
use super::words::{Faults, OriginPlace, origins};
use crate::cli_tier::CheckPoolArguments;
use crate::exit::Exit;
use crate::output;
use proofload_tier::device::PageCache;
use proofload_tier::tier::{CacheInspection, DataCheck, FaultKind};
use serde_json::json;

/// Faults that are named in text, at most.
const NAMED: usize = 20;

/// What was found.
struct PoolFinding {
    inspection: CacheInspection,
    /// `None` when data were left out.
    data: Option<DataCheck>,
    /// What is wrong with origins.
    origins: Vec<String>,
}

impl PoolFinding {
    /// Faults that lose content, or keep the pool from being opened.
    fn is_sound(&self) -> bool {
        let harmful = |kind| matches!(kind, FaultKind::Lost | FaultKind::Unreadable);
        let data = self.data.as_ref().is_none_or(|data| !data.faults.iter().any(|fault| harmful(fault.kind)));
        data && self.origins.is_empty()
    }

    fn of_kind(&self, kind: FaultKind) -> usize {
        self.data.as_ref().map_or(0, |data| data.faults.iter().filter(|fault| fault.kind == kind).count())
    }
}

/// Every kind of fault.
const KINDS: [FaultKind; 4] = [FaultKind::Lost, FaultKind::Unreadable, FaultKind::Torn, FaultKind::Clean];

/// Checks one.
pub(super) fn run(arguments: &CheckPoolArguments) -> Result<Exit, Exit> {
    let mut faults = Faults::default();
    let places = origins(&arguments.origins, &mut faults);
    let places = faults.settle(arguments.json, Some(places))?;
    let found = look(arguments, &places).map_err(|text| output::failure(arguments.json, Exit::Failure, &text))?;
    let text = if arguments.json { as_json(&found) } else { as_text(&found, arguments) };
    let exit = if found.is_sound() { Exit::Good } else { Exit::VerificationFailed };
    Ok(output::conclude(arguments.json, &text, exit))
}

fn look(arguments: &CheckPoolArguments, places: &[OriginPlace]) -> Result<PoolFinding, String> {
    let text = |error: proofload_tier::Error| error.to_string();
    let (_claim, cache) = devices::open_one(&arguments.cache, PageCache::Used)?;
    let inspection = CacheInspection::of(&cache).map_err(text)?;
    let data = if arguments.no_data { None } else { Some(inspection.check_data(&cache).map_err(text)?) };
    let mut origins = Vec::new();
    for (number, place) in places.iter().enumerate() {
        let opened = devices::open_one(&place.path, PageCache::Used);
        let fits = opened.and_then(|(_claim, device)| inspection.check_origin(&device, number).map_err(text));
        origins.extend(fits.err());
    }
    Ok(PoolFinding { inspection, data, origins })
}

fn as_text(found: &PoolFinding, arguments: &CheckPoolArguments) -> String {
    let (superblock, path) = (&found.inspection.superblock, arguments.cache.display());
    let mut text = format!("{}: {path}\n", if found.is_sound() { "sound" } else { "NOT SOUND" });
    text.extend(found.origins.iter().map(|fault| format!("  FAULT       {fault}\n")));
    let mut line = |name: &str, value: String| text.push_str(&format!("  {name:<11} {value}\n"));
    line("cache", superblock.cache.to_string());
    let state = if superblock.clean { "closed" } else { "not closed: the next start recovers as after a crash" };
    line("state", format!("{state}; opened {} times", count(superblock.mounts)));
    let geometry = &superblock.geometry;
    line("lines", format!("{} of {} in use", count(superblock.active_lines), bytes(geometry.line_bytes.into())));
    line("journal", format!("{} records after the checkpoint", count(found.inspection.journal_records as u64)));
    for (number, volume) in (0..).zip(&superblock.volumes) {
        let (lines, dirty) = found.inspection.lines_of(number);
        let of = format!("{}, {}, {} dirty", bytes(volume.bytes), counted(lines, "line"), count(dirty));
        line("volume", format!("{number}: {of}; origin {}", volume.origin));
    }
    line("checksums", checksums(found));
    text.extend(faults(found));
    text
}

fn checksums(found: &PoolFinding) -> String {
    let Some(data) = &found.data else { return "of data were skipped".to_owned() };
    let mut text = format!("{} sectors compared", count(data.sectors));
    for kind in KINDS.into_iter().filter(|kind| found.of_kind(*kind) > 0) {
        let meaning = match kind {
            FaultKind::Lost => "dirty and damaged: their content is lost",
            FaultKind::Unreadable => "cannot be read",
            FaultKind::Torn => "dirty and overwritten after the last flush, which is possible after a crash",
            FaultKind::Clean => "clean and damaged: they will be read from the origin",
        };
        text.push_str(&format!(", {} {meaning}", count(found.of_kind(kind) as u64)));
    }
    text
}

/// Places of the faults, the first of them.
fn faults(found: &PoolFinding) -> Vec<String> {
    let all = found.data.as_ref().map_or(&[][..], |data| &data.faults);
    let named = all.iter().take(NAMED).map(|fault| {
        let (line, volume, at) = (fault.line, fault.volume, fault.at);
        format!("  {:<11} line {line}, volume {volume}, byte {at}\n", fault.kind.name())
    });
    let more = all.len().saturating_sub(NAMED);
    named.chain((more > 0).then(|| format!("  and {more} more\n"))).collect()
}

fn as_json(found: &PoolFinding) -> String {
    let superblock = &found.inspection.superblock;
    let volumes = (0..).zip(&superblock.volumes).map(|(number, volume)| {
        let (lines, dirty) = found.inspection.lines_of(number);
        json!({ "volume": number, "bytes": volume.bytes, "lines": lines, "dirty_lines": dirty,
                "origin": volume.origin.to_string() })
    });
    let counts = KINDS.map(|kind| (kind.name(), found.of_kind(kind)));
    let faults =
        found.data.as_ref().map_or(&[][..], |data| &data.faults).iter().map(
            |fault| json!({ "kind": fault.kind.name(), "line": fault.line, "volume": fault.volume, "at": fault.at }),
        );
    let document = json!({
        "form": 1,
        "sound": found.is_sound(),
        "origin_faults": found.origins,
        "cache": superblock.cache.to_string(),
        "closed": superblock.clean,
        "mounts": superblock.mounts,
        "line_bytes": superblock.geometry.line_bytes,
        "active_lines": superblock.active_lines,
        "journal_records": found.inspection.journal_records,
        "volumes": volumes.collect::<Vec<_>>(),
        "sectors": found.data.as_ref().map(|data| data.sectors),
        "fault_counts": counts.into_iter().collect::<std::collections::BTreeMap<_, _>>(),
        "faults": faults.collect::<Vec<_>>(),
    });
    format!("{document:#}")
}
