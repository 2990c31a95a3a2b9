//! Drives by their data sheets.

/// Time of a seek over a share of the full stroke.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SeekCurve {
    /// `a + b·√d + c·d` ms, where `d` is the share of the full stroke, above 0 and up to 1; 0 ms on the same cylinder.
    Parametric {
        /// Constant part, ms.
        a: f64,
        /// Weight of the root, ms.
        b: f64,
        /// Weight of the distance, ms.
        c: f64,
    },
    /// Two branches over cylinders: `a + b·√d` ms below a distance, `c + e·d` ms from it on.
    Branches {
        /// Distance at which the branches meet, cylinders.
        meet: f64,
        /// Constant and weight of the root, ms.
        near: (f64, f64),
        /// Constant and weight of the distance, ms.
        far: (f64, f64),
    },
}

/// A drive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DriveProfile {
    /// Its name in reports.
    pub name: &'static str,
    /// Revolutions per minute.
    pub rpm: f64,
    /// Time of a seek.
    pub seek: SeekCurve,
    /// Cylinders.
    pub cylinders: u32,
    /// Heads.
    pub heads: u32,
    /// Sectors of 512 bytes per track on the outermost and the innermost cylinder; between them by a straight line.
    pub track_sectors: (u32, u32),
    /// Time to switch to the next head or cylinder, ms.
    pub head_switch_ms: f64,
    /// Time of the controller per request, ms.
    pub overhead_ms: f64,
    /// Bytes that are read ahead into the track buffer; 0 for none.
    pub read_ahead_bytes: u64,
}

impl DriveProfile {
    /// A 7,200 rpm drive: track to track 0.8 ms, average 8.5 ms, full stroke 16.5 ms; 215 to 105 MB/s.
    ///
    /// A typical drive and no certain one: rates, tracks and heads are assumed.
    /// The seek curve solves a + b + c = 16.5, a + 8/15·b + c/3 = 8.5 and 0.8 ms over one of 200,000 tracks.
    pub const RPM_7200: DriveProfile = DriveProfile {
        name: "7.2K",
        rpm: 7_200.0,
        seek: SeekCurve::Parametric { a: 0.78, b: 12.40, c: 3.32 },
        cylinders: 200_000,
        heads: 8,
        track_sectors: (3_500, 1_700),
        head_switch_ms: 0.8,
        overhead_ms: 0.1,
        read_ahead_bytes: 1 << 20,
    };

    /// A 10,000 rpm drive: track to track 0.4 ms, average 4.6 ms, full stroke 9.5 ms; 205 to 120 MB/s.
    ///
    /// A typical drive and no certain one: times, rates, tracks and heads are assumed.
    /// The seek curve solves a + b + c = 9.5, a + 8/15·b + c/3 = 4.6 and 0.4 ms over one of 150,000 tracks.
    pub const RPM_10K: DriveProfile = DriveProfile {
        name: "10K",
        rpm: 10_000.0,
        seek: SeekCurve::Parametric { a: 0.385, b: 5.827, c: 3.288 },
        cylinders: 150_000,
        heads: 6,
        track_sectors: (2_400, 1_400),
        head_switch_ms: 0.5,
        overhead_ms: 0.1,
        read_ahead_bytes: 1 << 20,
    };

    /// A 15,000 rpm drive: track to track 0.2 ms, average 3.4 ms, full stroke 6.6 ms; 205 to 130 MB/s.
    ///
    /// A typical drive and no certain one: times, rates, tracks and heads are assumed.
    /// The seek curve solves a + b + c = 6.6, a + 8/15·b + c/3 = 3.4 and 0.2 ms over one of 100,000 tracks.
    pub const RPM_15K: DriveProfile = DriveProfile {
        name: "15K",
        rpm: 15_000.0,
        seek: SeekCurve::Parametric { a: 0.183, b: 5.389, c: 1.028 },
        cylinders: 100_000,
        heads: 4,
        track_sectors: (1_600, 1_000),
        head_switch_ms: 0.4,
        overhead_ms: 0.1,
        read_ahead_bytes: 1 << 20,
    };

    /// The HP 97560: 1,962 cylinders, 19 heads, 72 sectors per track, 4,002 rpm.
    ///
    /// Source: Ruemmler, Wilkes, "An introduction to disk drive modeling", IEEE Computer 27(3), 1994.
    pub const HP_97560: DriveProfile = DriveProfile {
        name: "HP 97560",
        rpm: 4_002.0,
        seek: SeekCurve::Branches { meet: 383.0, near: (3.24, 0.400), far: (8.00, 0.008) },
        cylinders: 1_962,
        heads: 19,
        track_sectors: (72, 72),
        head_switch_ms: 1.6,
        overhead_ms: 2.2,
        read_ahead_bytes: 128 << 10,
    };

    /// The profiles that a study can name.
    pub const ALL: [DriveProfile; 4] = [Self::RPM_7200, Self::RPM_10K, Self::RPM_15K, Self::HP_97560];

    /// Time of a seek over so many cylinders, ms.
    pub fn seek_ms(&self, cylinders: u32) -> f64 {
        if cylinders == 0 {
            return 0.0;
        }
        let distance = f64::from(cylinders);
        match self.seek {
            SeekCurve::Parametric { a, b, c } => {
                let share = distance / f64::from(self.cylinders);
                a + b * share.sqrt() + c * share
            }
            SeekCurve::Branches { meet, near, .. } if distance < meet => near.0 + near.1 * distance.sqrt(),
            SeekCurve::Branches { far, .. } => far.0 + far.1 * distance,
        }
    }

    /// Mean time of a seek between two independent, uniformly distributed cylinders, ms.
    ///
    /// The density of the distance d, as a share, is 2·(1 − d): the mean of √d is 8/15, that of d is 1/3.
    pub fn mean_seek_ms(&self) -> f64 {
        let steps = 20_000_u32;
        let all = f64::from(self.cylinders);
        let weighted = (0..steps).map(|step| {
            let share = (f64::from(step) + 0.5) / f64::from(steps);
            2.0 * (1.0 - share) * self.seek_ms((share * all).ceil() as u32)
        });
        weighted.sum::<f64>() / f64::from(steps)
    }

    /// Time of a revolution, ms.
    pub fn revolution_ms(&self) -> f64 {
        60_000.0 / self.rpm
    }

    /// Sectors of a track on a cylinder.
    pub fn sectors_on(&self, cylinder: u32) -> u32 {
        let (outer, inner) = self.track_sectors;
        let share = f64::from(cylinder) / f64::from((self.cylinders - 1).max(1));
        (f64::from(outer) - share * (f64::from(outer) - f64::from(inner))).round() as u32
    }

    /// Mean service of a random request of so many bytes alone on an idle disk with its cylinders equally probable, ms:
    /// overhead, mean seek, half a revolution, and the transfer at the mean rate.
    pub fn mean_random_service_ms(&self, bytes: u32) -> f64 {
        let (outer, inner) = (f64::from(self.track_sectors.0), f64::from(self.track_sectors.1));
        // The mean of 1 / sectors over a straight line is the logarithmic mean.
        let inverse = if (outer - inner).abs() < 1.0 { 1.0 / outer } else { (outer / inner).ln() / (outer - inner) };
        let transfer = f64::from(bytes) / 512.0 * inverse * self.revolution_ms();
        self.overhead_ms + self.mean_seek_ms() + self.revolution_ms() / 2.0 + transfer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(profile: &DriveProfile, track: f64, mean: f64, full: f64) {
        assert!((profile.seek_ms(1) - track).abs() < 0.03, "{} {}", profile.name, profile.seek_ms(1));
        assert!((profile.mean_seek_ms() - mean).abs() < 0.02, "{} {}", profile.name, profile.mean_seek_ms());
        let most = profile.seek_ms(profile.cylinders);
        assert!((most - full).abs() < 0.02, "{} {most}", profile.name);
    }

    #[test]
    fn curves_meet_their_data_sheets() {
        check(&DriveProfile::RPM_7200, 0.81, 8.5, 16.5);
        check(&DriveProfile::RPM_10K, 0.4, 4.6, 9.5);
        check(&DriveProfile::RPM_15K, 0.2, 3.4, 6.6);
    }

    #[test]
    fn the_reference_drive_has_its_published_curve() {
        let drive = DriveProfile::HP_97560;
        let points = [(1, 3.64), (100, 7.24), (382, 11.058), (383, 11.064), (1_000, 16.0), (1_961, 23.688)];
        for (cylinders, published) in points {
            assert!((drive.seek_ms(cylinders) - published).abs() < 0.001, "{cylinders} {}", drive.seek_ms(cylinders));
        }
    }
}
