//! The strength of a fault, where its kind has one: how slow a link or a disk becomes. Pure. May not know how it is made so.

use crate::drill::FaultKind;
use crate::error::Error;
use crate::settings::Settings;
use crate::units::BytesPerSecond;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;

/// Strength of a fault.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FaultStrength {
    /// All or nothing: the kind has no strength.
    #[default]
    Whole,
    /// Time there and back through the link.
    Rtt(Duration),
    /// Bytes per second through the link, in each direction.
    Bandwidth(BytesPerSecond),
    /// Write requests per second to each device under the data.
    WriteIops(u32),
    /// Bytes per second written to each device under the data.
    WriteBandwidth(BytesPerSecond),
}

impl FaultStrength {
    /// Settings that hold a strength, each with the kind of fault that it belongs to. Of several of a kind one is set.
    pub const SETTINGS: [(&str, FaultKind); 4] = [
        ("drill.rtt", FaultKind::Latency),
        ("drill.bandwidth", FaultKind::Bandwidth),
        ("drill.write_iops", FaultKind::SlowDisk),
        ("drill.write_bandwidth", FaultKind::SlowDisk),
    ];

    /// Settings of which one holds the strength of a kind; empty where it has no strength.
    pub fn settings(kind: FaultKind) -> impl Iterator<Item = &'static str> {
        Self::SETTINGS.into_iter().filter(move |(_, of)| *of == kind).map(|(setting, _)| setting)
    }

    /// The strength that a point asks for.
    ///
    /// # Errors
    /// The kind has a strength, and its setting is missing, or there are two.
    pub fn of(kind: FaultKind, settings: &Settings) -> Result<Self, Error> {
        match kind {
            FaultKind::Latency => settings.duration("drill.rtt").map(Self::Rtt),
            FaultKind::Bandwidth => {
                settings.bytes("drill.bandwidth").map(|bytes| Self::Bandwidth(BytesPerSecond(bytes.0)))
            }
            FaultKind::SlowDisk => Self::of_slow_disk(settings),
            _ => Ok(Self::Whole),
        }
    }

    fn of_slow_disk(settings: &Settings) -> Result<Self, Error> {
        match (settings.count("drill.write_iops"), settings.bytes("drill.write_bandwidth")) {
            (Ok(rate), Err(_)) => Ok(Self::WriteIops(rate)),
            (Err(_), Ok(rate)) => Ok(Self::WriteBandwidth(BytesPerSecond(rate.0))),
            (Err(error), Err(_)) => Err(error),
            (Ok(_), Ok(_)) => Err(Error::refused(
                "failed to read the strength of a slow disk: drill.write_iops and drill.write_bandwidth are both set; \
                 remove one of the two",
            )),
        }
    }

    /// The strength as a number with its unit; `None` where it is all or nothing.
    pub fn quantity(self) -> Option<(f64, &'static str)> {
        match self {
            Self::Whole => None,
            Self::Rtt(time) => Some((time.as_secs_f64(), "s")),
            Self::Bandwidth(rate) => Some((rate.0 as f64, "B/s")),
            Self::WriteIops(rate) => Some((f64::from(rate), "1/s")),
            Self::WriteBandwidth(rate) => Some((rate.0 as f64, "B/s")),
        }
    }
}

impl fmt::Display for FaultStrength {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole => Ok(()),
            Self::Rtt(time) => write!(f, "{time:?} round trip"),
            Self::Bandwidth(rate) => write!(f, "{rate}"),
            Self::WriteIops(rate) => write!(f, "{rate} writes/s"),
            Self::WriteBandwidth(rate) => write!(f, "writes of {rate}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Value;

    #[test]
    fn a_kind_with_a_strength_has_a_setting_and_needs_it() {
        assert_eq!(FaultStrength::of(FaultKind::Crash, &Settings::default()).unwrap(), FaultStrength::Whole);
        for (setting, kind) in FaultStrength::SETTINGS {
            assert!(FaultStrength::settings(kind).any(|one| one == setting), "{setting}");
            assert!(FaultStrength::of(kind, &Settings::default()).is_err(), "{setting}");
        }
        let given = [("drill.write_iops".to_owned(), Value::Integer(20))];
        let found = FaultStrength::of(FaultKind::SlowDisk, &Settings(given.into_iter().collect())).unwrap();
        assert_eq!((found, found.to_string()), (FaultStrength::WriteIops(20), "20 writes/s".to_owned()));
    }

    #[test]
    fn a_slow_disk_has_a_rate_of_requests_or_of_bytes_and_not_both() {
        let requests = ("drill.write_iops".to_owned(), Value::Integer(20));
        let bytes = ("drill.write_bandwidth".to_owned(), Value::Bytes(crate::units::Bytes(2_000_000)));
        let of = |given: &[(String, Value)]| {
            FaultStrength::of(FaultKind::SlowDisk, &Settings(given.iter().cloned().collect()))
        };
        let slow = of(std::slice::from_ref(&bytes)).unwrap();
        assert_eq!(slow, FaultStrength::WriteBandwidth(BytesPerSecond(2_000_000)));
        assert_eq!(slow.quantity(), Some((2e6, "B/s")));
        assert!(slow.to_string().starts_with("writes of 2"), "{slow}");
        let both = of(&[requests, bytes]).unwrap_err().to_string();
        assert!(both.contains("remove one of the two"), "{both}");
    }
}
