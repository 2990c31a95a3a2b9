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
}

impl FaultStrength {
    /// Settings that hold a strength, each with the kind of fault that it belongs to.
    pub const SETTINGS: [(&str, FaultKind); 3] = [
        ("drill.rtt", FaultKind::Latency),
        ("drill.bandwidth", FaultKind::Bandwidth),
        ("drill.write_iops", FaultKind::SlowDisk),
    ];

    /// Setting with the strength of a kind; `None` where it has none.
    pub fn setting(kind: FaultKind) -> Option<&'static str> {
        Self::SETTINGS.iter().find(|(_, of)| *of == kind).map(|(setting, _)| *setting)
    }

    /// The strength that a point asks for.
    ///
    /// # Errors
    /// The kind has a strength, and its setting is missing.
    pub fn of(kind: FaultKind, settings: &Settings) -> Result<Self, Error> {
        match kind {
            FaultKind::Latency => settings.duration("drill.rtt").map(Self::Rtt),
            FaultKind::Bandwidth => {
                settings.bytes("drill.bandwidth").map(|bytes| Self::Bandwidth(BytesPerSecond(bytes.0)))
            }
            FaultKind::SlowDisk => settings.count("drill.write_iops").map(Self::WriteIops),
            _ => Ok(Self::Whole),
        }
    }

    /// The strength as a number with its unit; `None` where it is all or nothing.
    pub fn quantity(self) -> Option<(f64, &'static str)> {
        match self {
            Self::Whole => None,
            Self::Rtt(time) => Some((time.as_secs_f64(), "s")),
            Self::Bandwidth(rate) => Some((rate.0 as f64, "B/s")),
            Self::WriteIops(rate) => Some((f64::from(rate), "1/s")),
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
            assert_eq!(FaultStrength::setting(kind), Some(setting));
            assert!(FaultStrength::of(kind, &Settings::default()).is_err(), "{setting}");
        }
        let given = [("drill.write_iops".to_owned(), Value::Integer(20))];
        let found = FaultStrength::of(FaultKind::SlowDisk, &Settings(given.into_iter().collect())).unwrap();
        assert_eq!((found, found.to_string()), (FaultStrength::WriteIops(20), "20 writes/s".to_owned()));
    }
}
