//! The crate's only error: what was done, on what, what came back, what to try.

use std::fmt;
use std::io;
use std::ops::Range;
use std::path::Path;

use crate::control::FrameFault;
use crate::layout::Identity;

/// A cache, a volume or a model that cannot do what it was asked for.
#[derive(Debug)]
pub struct Error {
    kind: TierErrorKind,
}

#[derive(Debug)]
enum TierErrorKind {
    Unfit {
        what: &'static str,
        found: u64,
        allowed: &'static str,
    },
    Device {
        action: &'static str,
        device: String,
        at: u64,
        source: io::Error,
    },
    Missing {
        what: String,
    },
    Foreign {
        what: String,
        found: Identity,
        wanted: Identity,
    },
    Older {
        what: String,
        other: &'static str,
        mounts: u64,
        wanted: u64,
    },
    Detached {
        what: String,
    },
    GivenUp {
        source: Box<Error>,
    },
    Size {
        what: String,
        found: u64,
        wanted: u64,
    },
    Room {
        what: String,
        wanted: u64,
        missing: u64,
    },
    Damaged {
        what: String,
    },
    Unreadable {
        what: String,
        at: u64,
        source: io::Error,
    },
    Failed {
        volume: u8,
        ranges: String,
    },
    Lost {
        volume: u8,
        bytes: Range<u64>,
    },
    Version {
        what: String,
        found: u32,
        newest: u32,
    },
    Range {
        volume: u8,
        at: u64,
        length: u64,
        bytes: u64,
    },
    Busy {
        what: &'static str,
        advice: &'static str,
    },
    Taken {
        what: String,
        by: &'static str,
    },
    #[cfg(any(feature = "fuse", feature = "ublk"))]
    Program {
        action: &'static str,
        what: String,
        came: String,
        advice: &'static str,
    },
    Frame {
        action: &'static str,
        what: String,
        fault: FrameFault,
    },
    Control {
        action: &'static str,
        path: String,
        came: String,
        advice: &'static str,
    },
}

impl Error {
    pub(crate) fn unfit(what: &'static str, found: u64, allowed: &'static str) -> Self {
        Self { kind: TierErrorKind::Unfit { what, found, allowed } }
    }

    pub(crate) fn device(action: &'static str, device: impl Into<String>, at: u64, source: io::Error) -> Self {
        Self { kind: TierErrorKind::Device { action, device: device.into(), at, source } }
    }

    pub(crate) fn missing(what: impl Into<String>) -> Self {
        Self { kind: TierErrorKind::Missing { what: what.into() } }
    }

    pub(crate) fn foreign(what: impl Into<String>, found: Identity, wanted: Identity) -> Self {
        Self { kind: TierErrorKind::Foreign { what: what.into(), found, wanted } }
    }

    pub(crate) fn older(what: impl Into<String>, other: &'static str, mounts: u64, wanted: u64) -> Self {
        Self { kind: TierErrorKind::Older { what: what.into(), other, mounts, wanted } }
    }

    pub(crate) fn detached(what: impl Into<String>) -> Self {
        Self { kind: TierErrorKind::Detached { what: what.into() } }
    }

    pub(crate) fn given_up(source: Self) -> Self {
        Self { kind: TierErrorKind::GivenUp { source: Box::new(source) } }
    }

    pub(crate) fn size(what: impl Into<String>, found: u64, wanted: u64) -> Self {
        Self { kind: TierErrorKind::Size { what: what.into(), found, wanted } }
    }

    pub(crate) fn no_room(what: impl Into<String>, wanted: u64, missing: u64) -> Self {
        Self { kind: TierErrorKind::Room { what: what.into(), wanted, missing } }
    }

    pub(crate) fn damaged(what: impl Into<String>) -> Self {
        Self { kind: TierErrorKind::Damaged { what: what.into() } }
    }

    pub(crate) fn unreadable(what: impl Into<String>, at: u64, source: io::Error) -> Self {
        Self { kind: TierErrorKind::Unreadable { what: what.into(), at, source } }
    }

    pub(crate) fn failed(volume: u8, ranges: String) -> Self {
        Self { kind: TierErrorKind::Failed { volume, ranges } }
    }

    pub(crate) fn lost(volume: u8, bytes: Range<u64>) -> Self {
        Self { kind: TierErrorKind::Lost { volume, bytes } }
    }

    pub(crate) fn version(what: impl Into<String>, found: u32, newest: u32) -> Self {
        Self { kind: TierErrorKind::Version { what: what.into(), found, newest } }
    }

    pub(crate) fn range(volume: u8, at: u64, length: u64, bytes: u64) -> Self {
        Self { kind: TierErrorKind::Range { volume, at, length, bytes } }
    }

    pub(crate) fn busy(what: &'static str, advice: &'static str) -> Self {
        Self { kind: TierErrorKind::Busy { what, advice } }
    }

    pub(crate) fn taken(what: impl Into<String>, by: &'static str) -> Self {
        Self { kind: TierErrorKind::Taken { what: what.into(), by } }
    }

    #[cfg(any(feature = "fuse", feature = "ublk"))]
    pub(crate) fn program(
        action: &'static str,
        what: impl Into<String>,
        came: impl ToString,
        advice: &'static str,
    ) -> Self {
        Self { kind: TierErrorKind::Program { action, what: what.into(), came: came.to_string(), advice } }
    }

    pub(crate) fn frame(action: &'static str, what: impl Into<String>, fault: FrameFault) -> Self {
        Self { kind: TierErrorKind::Frame { action, what: what.into(), fault } }
    }

    pub(crate) fn control(action: &'static str, path: &Path, came: impl ToString, advice: &'static str) -> Self {
        let (path, came) = (path.display().to_string(), came.to_string());
        Self { kind: TierErrorKind::Control { action, path, came, advice } }
    }

    /// What is wrong with a message of a control socket; `None` for any other error.
    pub fn frame_fault(&self) -> Option<FrameFault> {
        match self.kind {
            TierErrorKind::Frame { fault, .. } => Some(fault),
            _ => None,
        }
    }

    /// Whether cache and origins do not belong together as they are: one is missing, foreign, older, or set free.
    pub fn is_mismatch(&self) -> bool {
        matches!(
            self.kind,
            TierErrorKind::Missing { .. }
                | TierErrorKind::Foreign { .. }
                | TierErrorKind::Older { .. }
                | TierErrorKind::Detached { .. }
                | TierErrorKind::Size { .. }
        )
    }

    /// Tells whether an origin was set free of its cache, which is done only when nothing is dirty: the origins alone have everything.
    pub fn is_detached(&self) -> bool {
        matches!(self.kind, TierErrorKind::Detached { .. })
    }

    /// Tells whether another process has the device, or the system uses it.
    pub fn is_taken(&self) -> bool {
        matches!(self.kind, TierErrorKind::Taken { .. })
    }

    /// Tells whether bytes are lost that only the cache had, while the rest of the volume is served.
    pub fn is_lost(&self) -> bool {
        matches!(self.kind, TierErrorKind::Lost { .. })
    }

    /// Whether the volume has failed and does nothing more until it is opened again.
    pub fn is_fail_stop(&self) -> bool {
        matches!(self.kind, TierErrorKind::Failed { .. })
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            TierErrorKind::Unfit { what, found, allowed } => write!(f, "{what} is {found}, but must be {allowed}"),
            TierErrorKind::Device { action, device, at, source } => {
                write!(f, "{action} {device} at byte {at}: {source}; check the device for errors")
            }
            TierErrorKind::Missing { what } => {
                write!(f, "failed to open {what}: it is missing or was never formatted; check the path, or format it")
            }
            TierErrorKind::Foreign { what, found, wanted } => write!(
                f,
                "failed to open {what}: it is {found} where {wanted} was expected; use the devices that belong together"
            ),
            TierErrorKind::Older { what, other, mounts, wanted } => write!(
                f,
                "failed to open {what}: it was opened {mounts} times and the {other} {wanted} times, so it is an older copy; \
                 restore both from the same time, or format the cache if it has no dirty lines"
            ),
            TierErrorKind::Detached { what } => {
                let advice = "use it alone, or format a new cache for it";
                write!(f, "failed to open {what}: it was detached from its cache; {advice}")
            }
            TierErrorKind::GivenUp { source } => write!(
                f,
                "{source}; nothing was dirty, so the origins have everything and are free of the cache: use them alone, \
                 or format a new cache for them"
            ),
            TierErrorKind::Size { what, found, wanted } => {
                write!(f, "failed to open {what}: it has {found} bytes, but {wanted} are needed; was it truncated?")
            }
            TierErrorKind::Room { what, wanted, missing } => write!(
                f,
                "made room for {what}: its file system lacks {missing} bytes of {wanted}; free them there, or make it smaller"
            ),
            TierErrorKind::Damaged { what } => write!(
                f,
                "read {what}: it is damaged, so the content of the cache is unknown; restore cache and origins from \
                 the same time"
            ),
            TierErrorKind::Unreadable { what, at, source } => write!(
                f,
                "read {what} at byte {at}: {source}; without it the content of the cache is unknown: try again, or copy \
                 the cache to another device with a program that reads bad places many times, such as ddrescue, and \
                 use the copy if this place was read"
            ),
            TierErrorKind::Failed { volume, ranges } => write!(
                f,
                "volume {volume} has failed after an error of its cache; content that is only in the cache: {ranges}; \
                 repair the cache and open it again, or drain what can be read of it while nobody serves it"
            ),
            TierErrorKind::Lost { volume, bytes } => write_lost(f, *volume, bytes),
            TierErrorKind::Version { what, found, newest } => write_version(f, what, *found, *newest),
            TierErrorKind::Range { volume, at, length, bytes } => {
                write!(f, "volume {volume}: {length} bytes at {at} are beyond its {bytes} bytes")
            }
            TierErrorKind::Frame { action, what, fault } => {
                write!(f, "{action} {what}: {fault}; use the same version of the program at both ends")
            }
            TierErrorKind::Control { action, path, came, advice } => {
                write!(f, "{action} the socket {path}: {came}; {advice}")
            }
            TierErrorKind::Taken { what, by } => {
                write!(f, "claimed {what}: {by}; end that first, or use another device")
            }
            #[cfg(any(feature = "fuse", feature = "ublk"))]
            TierErrorKind::Program { action, what, came, advice } => write!(f, "{action} {what}: {came}; {advice}"),
            TierErrorKind::Busy { what, advice } => write!(f, "{what}; {advice}"),
        }
    }
}

fn write_lost(f: &mut fmt::Formatter<'_>, volume: u8, bytes: &Range<u64>) -> fmt::Result {
    write!(
        f,
        "read bytes {} to {} of volume {volume} from the cache, which alone has them: they differ from their checksums and \
         are not used; write them whole, restore them from a backup, or look for other damage with a check of the cache \
         while nobody serves it",
        bytes.start, bytes.end
    )
}

fn write_version(f: &mut fmt::Formatter<'_>, what: &str, found: u32, newest: u32) -> fmt::Result {
    write!(
        f,
        "failed to open {what}: it is of version {found} of the format, but {newest} is the newest that is read; use the version of \
         the program that made it, or clear its first 8 KiB to give it up with all that it holds"
    )
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.kind {
            TierErrorKind::Device { source, .. } | TierErrorKind::Unreadable { source, .. } => Some(source),
            TierErrorKind::GivenUp { source } => Some(source),
            _ => None,
        }
    }
}
