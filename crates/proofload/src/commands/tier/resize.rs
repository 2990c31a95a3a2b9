//! `tier resize`: changes the size of a cache that nobody serves. What lies beyond the new end is cleaned first, and the size changes by
//! one durable write, so that a crash leaves the old size or the new one.

use super::devices;
use super::units::{bytes, count, counted};
use super::words::{Faults, OriginPlace, modes, origins, pool_settings, size, time};
use crate::cli_tier::ResizeArguments;
use crate::clock::SystemClock;
use crate::exit::Exit;
use crate::output;
use proofload_tier::device::{DeviceClaim, FileDevice, PageCache};
use proofload_tier::layout::Geometry;
use proofload_tier::policy::PolicyChoice;
use proofload_tier::tier::{CacheInspection, Tier};
use serde_json::json;
use std::fs::OpenOptions;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// The fewest lines of a cache.
const LEAST_LINES: u32 = 8;

/// What is asked for.
struct ResizeOrder {
    /// Bytes of the cache, its tables included.
    size: u64,
    origins: Vec<OriginPlace>,
    within: Duration,
}

/// What has been done.
struct ResizeOutcome {
    geometry: Geometry,
    /// Lines in use before and now.
    before: u32,
    lines: u32,
    /// Bytes that were written to the origins.
    cleaned_bytes: u64,
    /// Lines that are dirty still: of those that stay.
    dirty_lines: u32,
}

impl ResizeOutcome {
    /// Bytes of so many lines.
    fn content(&self, lines: u32) -> u64 {
        u64::from(lines) * u64::from(self.geometry.line_bytes)
    }
}

/// Changes the size.
pub(super) fn run(arguments: &ResizeArguments) -> Result<Exit, Exit> {
    let mut faults = Faults::default();
    let origins = origins(&arguments.devices.origins, &mut faults);
    let within = time("--within", &arguments.within, &mut faults);
    let size = size("--size", &arguments.size, &mut faults);
    let wanted = size.zip(within).map(|(size, within)| ResizeOrder { size, origins, within });
    let wanted = faults.settle(arguments.json, wanted)?;
    let done = resize(arguments, &wanted).map_err(|(exit, text)| output::failure(arguments.json, exit, &text))?;
    let text = if arguments.json { as_json(&done) } else { as_text(&done, &arguments.devices.cache) };
    Ok(output::conclude_acted(arguments.json, &text, Exit::Good))
}

fn resize(arguments: &ResizeArguments, wanted: &ResizeOrder) -> Result<ResizeOutcome, (Exit, String)> {
    let failed = |error: proofload_tier::Error| (Exit::Failure, error.to_string());
    let path = &arguments.devices.cache;
    let (claim, geometry, before) = found(path).map_err(|text| (Exit::Failure, text))?;
    let lines = lines_of(&geometry, wanted.size).map_err(|text| (Exit::Usage, text))?;
    let page_cache = devices::page_cache(arguments.devices.page_cache);
    let grown = if lines > before { grow(path, geometry.byte_of_line(lines)) } else { Ok(None) };
    let grown = grown.map_err(|text| (Exit::Failure, text))?;
    // A device is claimed once, by this process as well.
    drop(claim);
    let opened = devices::open(path, &wanted.origins, page_cache, None).map_err(|text| {
        let claim = grown.map(|_| DeviceClaim::take(path)).transpose();
        let given_back = claim.map_err(|error| error.to_string()).and_then(|_claim| give_back(path, grown));
        (Exit::Failure, with_room(text, given_back))
    })?;
    // From here on the devices that are open hold the claim.
    let unchanged = |text: String| (Exit::Failure, with_room(text, give_back(path, grown)));
    let modes = modes(&[], &wanted.origins, &mut Faults::default());
    let settings = pool_settings(PolicyChoice::S3Fifo1, &wanted.origins, &modes);
    let tier = Tier::open(opened.devices.clone(), settings, Arc::new(SystemClock));
    let tier = tier.map_err(|error| unchanged(error.to_string()))?;
    let resized = tier.resize(lines, wanted.within);
    let cleaned_bytes = (0..tier.volumes()).map(|volume| tier.counters(volume).cleaned_bytes).sum();
    let dirty_lines = tier.status().dirty_lines;
    // What was cleaned stays clean, also where the size stays.
    let closed = tier.close();
    resized.map_err(|error| unchanged(format!("{error}; the cache has {} lines as before", count(before))))?;
    closed.map_err(failed)?;
    // All that it has is within the new end, and durably so.
    let done = cut(path, geometry.byte_of_line(lines));
    done.map_err(|text| (Exit::Failure, format!("the cache is resized, but {text}; resize it again")))?;
    Ok(ResizeOutcome { geometry, before, lines, cleaned_bytes, dirty_lines })
}

/// Geometry and lines in use of a cache that no other process has open, nor opens until the claim is dropped.
fn found(path: &Path) -> Result<(DeviceClaim, Geometry, u32), String> {
    let claim = DeviceClaim::take(path).map_err(|error| {
        let advice = if error.is_taken() {
            "; a pool that is being served is not resized: stop it first with proofload tier stop SOCKET"
        } else {
            ""
        };
        format!("{error}{advice}")
    })?;
    let (geometry, lines) = inspect(path)?;
    Ok((claim, geometry, lines))
}

/// Geometry and lines in use of the cache on a device, which this process has claimed.
fn inspect(path: &Path) -> Result<(Geometry, u32), String> {
    let cache = FileDevice::open(path, PageCache::Used).map_err(|error| error.to_string())?;
    let inspection = CacheInspection::of(&cache).map_err(|error| error.to_string())?;
    Ok((inspection.superblock.geometry, inspection.superblock.active_lines))
}

/// Gives the file of a cache room for so many bytes; its length before. A block device stays as it is.
fn grow(path: &Path, to: u64) -> Result<Option<u64>, String> {
    if !is_file(path) {
        return Ok(None);
    }
    let before = std::fs::metadata(path)
        .map_err(|error| format!("failed to read the length of {}: {error}", path.display()))?
        .len();
    FileDevice::allocate(path, to).map_err(|error| error.to_string())?;
    Ok(Some(before))
}

/// Cuts the file of a cache that did not grow, and that this process has claimed, to its length before it got room. Its lines in use are
/// read again: while nobody had the claim another process may have added some.
fn give_back(path: &Path, before: Option<u64>) -> Result<(), String> {
    let Some(before) = before else { return Ok(()) };
    let (geometry, lines) = inspect(path)?;
    cut(path, geometry.byte_of_line(lines).max(before))
}

/// A fault, and why the room of a larger cache was not given back.
fn with_room(fault: String, given_back: Result<(), String>) -> String {
    match given_back {
        Ok(()) => fault,
        Err(why) => format!("{fault}; its file keeps the room it got to grow until the next resize cuts it: {why}"),
    }
}

/// The lines that fit a cache of so many bytes, tables included.
fn lines_of(geometry: &Geometry, size: u64) -> Result<u32, String> {
    let least = geometry.byte_of_line(LEAST_LINES);
    if size < least {
        return Err(format!(
            "--size: {} is too small; the tables and {LEAST_LINES} lines need {least} bytes",
            bytes(size)
        ));
    }
    // What was formatted with a size fits that size again.
    let fitting = Geometry::fitting(geometry.line_bytes, size).map_or(LEAST_LINES, |fitting| fitting.most_lines);
    if size > geometry.bytes() && fitting > geometry.most_lines {
        return Err(format!(
            "--size: {} is too large; the tables have room for {} lines, {} in all: for more, free the origins with \
             proofload tier drain --detach and format a new cache",
            bytes(size),
            count(geometry.most_lines),
            bytes(geometry.bytes())
        ));
    }
    let lines = (size - geometry.byte_of_line(0)) / u64::from(geometry.line_bytes);
    Ok(u32::try_from(lines).unwrap_or(u32::MAX).min(geometry.most_lines))
}

fn is_file(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| found.is_file())
}

/// Gives what a file has beyond its cache back to its file system; a block device stays as it is.
fn cut(path: &Path, to: u64) -> Result<(), String> {
    let failed = |error: std::io::Error| format!("its file {} was not cut to {to} bytes: {error}", path.display());
    if !is_file(path) {
        return Ok(());
    }
    let file = OpenOptions::new().write(true).open(path).map_err(failed)?;
    if file.metadata().map_err(failed)?.len() > to {
        file.set_len(to).and_then(|()| file.sync_all()).map_err(failed)?;
    }
    Ok(())
}

fn as_text(done: &ResizeOutcome, path: &Path) -> String {
    let size = |lines| format!("{} lines ({})", count(lines), bytes(done.content(lines)));
    let mut text = format!("resized: {} from {} to {}\n", path.display(), size(done.before), size(done.lines));
    let mut line = |name: &str, value: String| text.push_str(&format!("  {name:<9} {value}\n"));
    line("cleaned", format!("{} written to the origins", bytes(done.cleaned_bytes)));
    line("dirty", format!("{}, kept in the cache", counted(done.dirty_lines, "line")));
    line("at most", format!("{}, {} with its tables", size(done.geometry.most_lines), bytes(done.geometry.bytes())));
    text
}

fn as_json(done: &ResizeOutcome) -> String {
    let document = json!({
        "form": 1,
        "lines_before": done.before,
        "lines": done.lines,
        "most_lines": done.geometry.most_lines,
        "line_bytes": done.geometry.line_bytes,
        "cache_bytes": done.geometry.byte_of_line(done.lines),
        "most_bytes": done.geometry.bytes(),
        "cleaned_bytes": done.cleaned_bytes,
        "dirty_lines": done.dirty_lines,
    });
    format!("{document:#}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_includes_the_tables_and_what_was_formatted_fits_again() {
        for size in [4 << 20, 64 << 20, (1 << 30) + 5_000] {
            let geometry = Geometry::fitting(8192, size).expect("it fits");
            assert_eq!(lines_of(&geometry, size), Ok(geometry.most_lines));
            assert_eq!(lines_of(&geometry, geometry.bytes()), Ok(geometry.most_lines));
            assert_eq!(lines_of(&geometry, geometry.bytes() - 1), Ok(geometry.most_lines - 1));
            assert_eq!(lines_of(&geometry, geometry.byte_of_line(8)), Ok(8));
            let small = lines_of(&geometry, geometry.byte_of_line(8) - 1).expect_err("no eight lines");
            assert!(small.contains("too small"), "{small}");
            let large = lines_of(&geometry, 2 * size).expect_err("the tables are too small");
            assert!(large.contains("too large") && large.contains("--detach"), "{large}");
        }
    }
}
