//! `tier format`: makes an empty pool. What would be lost must be named twice.

use super::devices;
use super::units::{bytes, count, counted};
use super::words::{Faults, OriginPlace, origins, size};
use crate::cli_tier::FormatArguments;
use crate::exit::Exit;
use crate::output;
use proofload_tier::device::{FileDevice, PageCache};
use proofload_tier::layout::{Geometry, Identity};
use proofload_tier::tier::{DeviceContent, FormatSettings, Tier};
use std::io::Read as _;
use std::path::Path;

/// What is asked for.
struct FormatOrder {
    line_bytes: u32,
    /// Bytes of the cache; `None` for all of its device.
    size: Option<u64>,
    origins: Vec<OriginPlace>,
}

/// Makes a pool.
pub(super) fn run(arguments: &FormatArguments) -> Result<Exit, Exit> {
    let wanted = wanted(arguments)?;
    let text = format(arguments, &wanted).map_err(|(exit, text)| output::failure(false, exit, &text))?;
    Ok(output::conclude_acted(false, &text, Exit::Good))
}

fn wanted(arguments: &FormatArguments) -> Result<FormatOrder, Exit> {
    let mut faults = Faults::default();
    let origins = origins(&arguments.devices.origins, &mut faults);
    let size = arguments.size.as_ref().and_then(|text| size("--size", text, &mut faults));
    let line = size_of_line(&arguments.line, &mut faults);
    let cache = &arguments.devices.cache;
    if arguments.size.is_none() && !cache.exists() {
        faults.add(format!("{} does not exist; to create it, add --size", cache.display()));
    }
    faults.settle(false, line.map(|line_bytes| FormatOrder { line_bytes, size, origins }))
}

fn size_of_line(text: &str, faults: &mut Faults) -> Option<u32> {
    let bytes = size("--line", text, faults)?;
    // Eight lines are the least that a cache has: this asks for the size of a line only.
    let line = u32::try_from(bytes).unwrap_or(0);
    faults.take("--line", Geometry::new(line, 8)).map(|geometry| geometry.line_bytes)
}

fn format(arguments: &FormatArguments, wanted: &FormatOrder) -> Result<String, (Exit, String)> {
    let failed = |error: proofload_tier::Error| (Exit::Failure, error.to_string());
    let path = &arguments.devices.cache;
    let page_cache = devices::page_cache(arguments.devices.page_cache);
    let losses = losses(arguments, wanted).map_err(|text| (Exit::Failure, text))?;
    confirm(&losses, arguments, wanted).map_err(|text| (Exit::Usage, text))?;
    let identities = (0..=wanted.origins.len()).map(|_| identity()).collect::<std::io::Result<Vec<_>>>();
    let identities = identities.map_err(|error| (Exit::Failure, format!("failed to read /dev/urandom: {error}")))?;
    // Before anything is formatted: all of the file gets its room.
    let whole = || std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file).map(|data| data.len());
    if let Some(size) = wanted.size.or_else(whole) {
        make_room(path, size, page_cache).map_err(|text| (Exit::Failure, text))?;
    }
    let opened = devices::open(path, &wanted.origins, page_cache, None).map_err(|text| (Exit::Failure, text))?;
    let room = wanted.size.unwrap_or(u64::MAX).min(opened.devices.cache.bytes());
    let geometry = Geometry::fitting(wanted.line_bytes, room).map_err(failed)?;
    let settings = FormatSettings {
        line_bytes: wanted.line_bytes,
        most_lines: Some(geometry.most_lines),
        journal_blocks: None,
        active_lines: None,
        cache: identities[0],
        origins: identities[1..].to_vec(),
    };
    Tier::format(&opened.devices, &settings).map_err(failed)?;
    Ok(told(path, &geometry, &wanted.origins))
}

fn told(path: &Path, geometry: &Geometry, origins: &[OriginPlace]) -> String {
    let data = u64::from(geometry.most_lines) * u64::from(geometry.line_bytes);
    let mut text = format!(
        "formatted: {}, {} lines of {} ({})\n",
        path.display(),
        count(geometry.most_lines),
        bytes(geometry.line_bytes.into()),
        bytes(data)
    );
    let volumes = origins.iter().map(|place| format!("  volume {:<4} {}\n", place.class.name(), place.path.display()));
    text.extend(volumes);
    text
}

/// Devices with content that would be lost, and words for it.
fn losses(arguments: &FormatArguments, wanted: &FormatOrder) -> Result<Vec<(String, String)>, String> {
    let mut losses = Vec::new();
    let mut faults = Vec::new();
    let cache = &arguments.devices.cache;
    let mut look = |path: &Path, content: fn(&FileDevice) -> Result<DeviceContent, proofload_tier::Error>| {
        let found = devices::open_one(path, PageCache::Used);
        match found.and_then(|(_claim, device)| content(&device).map_err(|error| error.to_string())) {
            Ok(content) => losses.extend(loss(content).map(|loss| (path.display().to_string(), loss))),
            Err(fault) => faults.push(fault),
        }
    };
    if cache.exists() {
        look(cache, |device| DeviceContent::of_cache(device));
    }
    for place in &wanted.origins {
        look(&place.path, |device| DeviceContent::of_origin(device));
    }
    if faults.is_empty() { Ok(losses) } else { Err(faults.join("\nproofload: ")) }
}

/// Words for what is lost; `None` when nothing is.
fn loss(content: DeviceContent) -> Option<String> {
    match content {
        DeviceContent::Nothing | DeviceContent::FreeOrigin => None,
        DeviceContent::Cache { dirty_lines: 0 } => Some("is the cache of a pool".to_owned()),
        DeviceContent::Cache { dirty_lines: u32::MAX } => Some("is the cache of a pool that is damaged".to_owned()),
        DeviceContent::Cache { dirty_lines } => {
            Some(format!("is the cache of a pool and has {} that no origin has", counted(dirty_lines, "line")))
        }
        DeviceContent::Origin => Some("is the origin of a pool, whose cache may have newer content".to_owned()),
        DeviceContent::Foreign => Some("has content of another program".to_owned()),
    }
}

/// Refuses to lose what was not named twice, and names that are no device of this command.
fn confirm(losses: &[(String, String)], arguments: &FormatArguments, wanted: &FormatOrder) -> Result<(), String> {
    let named: Vec<&str> = arguments.yes.as_deref().map_or(Vec::new(), |names| names.split(',').collect());
    let known = |name: &str| {
        let origins = wanted.origins.iter().map(|place| place.path.as_path());
        origins.chain([arguments.devices.cache.as_path()]).any(|path| path == Path::new(name))
    };
    if let Some(stranger) = named.iter().find(|name| !known(name)) {
        return Err(format!("--yes names {stranger}, which is not a device of this command"));
    }
    let open = losses.iter().filter(|(path, _)| !named.contains(&path.as_str()));
    let texts: Vec<String> = open.map(|(path, loss)| format!("{path} {loss}")).collect();
    if texts.is_empty() {
        return Ok(());
    }
    let names: Vec<&str> = losses.iter().map(|(path, _)| path.as_str()).collect();
    Err(format!("{}; to destroy that, add --yes {}", texts.join("; "), names.join(",")))
}

/// Makes the file of a cache that is not there, or gives one its size, with room on its file system for all of it.
fn make_room(path: &Path, size: u64, page_cache: PageCache) -> Result<(), String> {
    let made = match std::fs::metadata(path) {
        Err(_) => FileDevice::create_whole(path, size, page_cache).map(drop),
        Ok(data) if data.is_file() => FileDevice::allocate(path, size),
        Ok(_) => Ok(()),
    };
    made.map_err(|error| error.to_string())
}

/// A number that nobody else has.
fn identity() -> std::io::Result<Identity> {
    let mut bytes = [0; 16];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(Identity(bytes))
}
