//! Histograms as an interval log of HdrHistogram, version 1.3: for each second a line a kind and clock, told apart by `Tag=`. The
//! payload of the record is written as it stands, so nothing is lost: nanoseconds in buckets of three digits.
//!
//! Source of the form: `HistogramLogWriter` of HdrHistogram 2.1.12 and later.

use super::Selection;
use super::time::{seconds_text, time_zero_us};
use crate::workloads::named_profile;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use proofload_model::samples::{HistogramDelta, LatencyClock};
use proofload_record::{Attempt, Record};
use std::io::{Result, Write};

/// Largest values are written in milliseconds, as HdrHistogram's tools expect of nanoseconds.
const MAX_UNIT: f64 = 1e6;

/// Writes the histograms of finished runs, one line for each kind, clock and second, as HdrHistogram's tools read them.
///
/// # Errors
/// Those of the writer.
pub fn write_hdr(record: &Record, selection: &Selection, to: &mut dyn Write) -> Result<()> {
    let base = record.created.0;
    writeln!(to, "#[Histograms of a Proofload record]")?;
    writeln!(to, "#[Values: nanoseconds, three significant digits (accurate to 0.1 %); Interval_Max in milliseconds]")?;
    writeln!(
        to,
        "#[Tags: run<index>.<kind> response times, run<index>.<kind>.service service times, run<index>.send_lag]"
    )?;
    if let Some(profile) = named_profile(&record.study.settings) {
        let profile: String = profile.chars().filter(|letter| !letter.is_control() && *letter != ']').collect();
        writeln!(to, "#[Profile: {profile}]")?;
    }
    writeln!(to, "#[Histogram log format version 1.3]")?;
    writeln!(to, "#[StartTime: {} (seconds since epoch), {}]", seconds_text(base), date(base))?;
    writeln!(to, "#[BaseTime: {} (seconds since epoch)]", seconds_text(base))?;
    writeln!(to, "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"")?;
    selection.finished(record).try_for_each(|attempt| run(attempt, base, to))
}

fn run(attempt: &Attempt, base: i64, to: &mut dyn Write) -> Result<()> {
    let zero = time_zero_us(attempt) - base;
    for interval in &attempt.intervals {
        let second = i64::try_from(interval.index).unwrap_or(i64::MAX / 2_000_000);
        let start = seconds_text(zero + second * 1_000_000);
        for part in interval.histograms.iter().filter(|part| part.count > 0) {
            let largest = part.max_ns as f64 / MAX_UNIT;
            let payload = STANDARD.encode(&part.payload);
            writeln!(to, "Tag={},{start},1.000,{largest:.3},{payload}", tag(attempt, part))?;
        }
    }
    Ok(())
}

/// A tag may hold neither a comma nor white space. Send lag belongs to no kind.
fn tag(attempt: &Attempt, part: &HistogramDelta) -> String {
    let kind: String = part.kind.chars().map(|letter| if letter.is_alphanumeric() { letter } else { '_' }).collect();
    let of_run = match part.clock {
        LatencyClock::Response => kind,
        LatencyClock::Service => format!("{kind}.service"),
        LatencyClock::SendLag => "send_lag".to_owned(),
    };
    format!("run{}.{of_run}", attempt.run.index)
}

/// Formats a date as Java prints it.
fn date(us: i64) -> String {
    let stamp = jiff::Timestamp::from_microsecond(us);
    stamp.map_or_else(|_| "unknown".to_owned(), |stamp| stamp.strftime("%a %b %d %H:%M:%S UTC %Y").to_string())
}
