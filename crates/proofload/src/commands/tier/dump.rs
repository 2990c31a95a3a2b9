//! `tier dump`: lines and dirty ranges of a pool that nobody serves. It changes nothing.

use super::devices;
use crate::cli_tier::DumpArguments;
use crate::exit::Exit;
use crate::output;
use proofload_model::units::counted;
use proofload_tier::device::PageCache;
use proofload_tier::lines::LineEntry;
use proofload_tier::tier::CacheInspection;
use serde_json::json;
use std::io::Write;

/// Dumps one.
pub(super) fn run(arguments: &DumpArguments) -> Result<Exit, Exit> {
    let failed = |text: String| output::failure(arguments.json, Exit::Failure, &text);
    let found = devices::open_one(&arguments.cache, PageCache::Used)
        .and_then(|(_claim, device)| CacheInspection::of(&device).map_err(|error| error.to_string()));
    let found = found.map_err(failed)?;
    let written = output::stream(|out| match arguments.json {
        true => as_json(&found, arguments, out),
        false => as_text(&found, arguments, out),
    });
    written.map(|()| Exit::Good).map_err(|error| failed(output::not_written(&error)))
}

fn volumes(found: &CacheInspection) -> impl Iterator<Item = u8> {
    (0..).take(found.superblock.volumes.len())
}

/// Place and sets of a line: number, volume, first byte on it, valid and dirty sectors.
fn parts(found: &CacheInspection, entry: &LineEntry) -> Option<(u8, u64, String, String)> {
    let block = entry.block()?;
    let at = block.index() * u64::from(found.superblock.geometry.line_bytes);
    let sectors = found.superblock.geometry.sectors() as usize;
    let bits = |set: u16| format!("{set:0sectors$b}").chars().rev().collect();
    Some((block.volume(), at, bits(entry.valid.0), bits(entry.dirty.0)))
}

fn as_text(found: &CacheInspection, arguments: &DumpArguments, out: &mut dyn Write) -> std::io::Result<()> {
    for volume in volumes(found) {
        let (lines, dirty) = found.lines_of(volume);
        writeln!(out, "volume {volume}: {}, {dirty} dirty", counted(lines as usize, "line"))?;
        for range in found.dirty_ranges(volume) {
            writeln!(out, "  dirty bytes {} to {}", range.start, range.end)?;
        }
    }
    if !arguments.lines {
        return Ok(());
    }
    writeln!(out, "line volume byte valid dirty generation")?;
    for (line, entry) in found.lines() {
        let Some((volume, at, valid, dirty)) = parts(found, entry) else { continue };
        writeln!(out, "{line} {volume} {at} {valid} {dirty} {}", entry.generation())?;
    }
    Ok(())
}

fn as_json(found: &CacheInspection, arguments: &DumpArguments, out: &mut dyn Write) -> std::io::Result<()> {
    let volumes = volumes(found).map(|volume| {
        let (lines, dirty) = found.lines_of(volume);
        let ranges = found.dirty_ranges(volume).into_iter().map(|range| json!([range.start, range.end]));
        let size = found.superblock.volumes[usize::from(volume)].bytes;
        json!({
            "volume": volume, "bytes": size, "lines": lines, "dirty_lines": dirty,
            "dirty_ranges": ranges.collect::<Vec<_>>(),
        })
    });
    let head = json!({
        "form": 1, "cache": found.superblock.cache.to_string(), "line_bytes": found.superblock.geometry.line_bytes,
        "volumes": volumes.collect::<Vec<_>>(),
    });
    writeln!(out, "{head}")?;
    if !arguments.lines {
        return Ok(());
    }
    // One object a line: a cache has millions.
    for (line, entry) in found.lines() {
        let Some((volume, at, valid, dirty)) = parts(found, entry) else { continue };
        let object = json!({ "line": line, "volume": volume, "at": at, "valid": valid, "dirty": dirty, "generation": entry.generation() });
        writeln!(out, "{object}")?;
    }
    Ok(())
}
