//! Interval logs of HdrHistogram, as YCSB writes one for each measurement: intervals are merged bucket for bucket. May not
//! average a percentile.
//!
//! Source: `HistogramLogWriter` of HdrHistogram 2.1; YCSB's values are microseconds.

use super::cleanse::quoted;
use super::hdr_v1;
use super::source::{Fault, Faults};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::read::ZlibDecoder;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use std::collections::BTreeMap;
use std::io::Read;

/// All intervals of one measurement.
#[derive(Debug, Clone)]
pub(super) struct MergedLog {
    /// The file.
    pub(super) file: String,
    /// First and last line.
    pub(super) lines: (usize, usize),
    /// Number of intervals.
    pub(super) intervals: usize,
    /// Their sum, microseconds.
    pub(super) histogram: Histogram<u64>,
}

impl MergedLog {
    /// Where it stands: `READ.hdr:5-11`.
    pub(super) fn from(&self) -> String {
        match self.lines {
            (first, last) if first == last => format!("{}:{first}", self.file),
            (first, last) => format!("{}:{first}-{last}", self.file),
        }
    }
}

/// Whether it is such a log.
pub(super) fn fits(text: &str) -> bool {
    let head = text.lines().take(10).filter(|line| line.starts_with('#'));
    head.clone().any(|line| line.starts_with("#[Histogram log format version") || line.starts_with("#[Logging for: "))
}

/// Reads a log: the measurement's name and its merged intervals; a log with tags has several.
pub(super) fn read(file: &str, text: &str) -> Result<BTreeMap<String, MergedLog>, Vec<Fault>> {
    let mut faults = Faults::of(file);
    let name = measurement_of(file, text);
    let mut merged = BTreeMap::new();
    for (at, line) in text.lines().enumerate().filter(|(_, line)| is_interval(line)) {
        match interval(line) {
            Ok((tag, histogram)) => add(&mut merged, tag.unwrap_or(&name), (file, at + 1), histogram, &mut faults),
            Err(why) => faults.at(at + 1, why),
        }
    }
    if merged.is_empty() {
        faults.whole("the log contains no complete interval; did the client end before it wrote one?");
    }
    faults.or(merged)
}

/// `#[Logging for: READ]`, else the file's name without its ending.
fn measurement_of(file: &str, text: &str) -> String {
    let named = text.lines().find_map(|line| line.strip_prefix("#[Logging for: ")?.strip_suffix(']'));
    let stem = file.rsplit('/').next().unwrap_or(file).split('.').next().unwrap_or(file);
    named.unwrap_or(stem).to_owned()
}

/// Whether a line is neither a comment nor the legend.
fn is_interval(line: &str) -> bool {
    !line.trim().is_empty() && !line.starts_with('#') && !line.starts_with('"')
}

/// `Tag=READ,0.035,0.945,0.004,HISTgg…`: start, length, largest value, histogram; the tag may be missing.
fn interval(line: &str) -> Result<(Option<&str>, Histogram<u64>), String> {
    let (tag, rest) = match line.strip_prefix("Tag=").and_then(|rest| rest.split_once(',')) {
        Some((tag, rest)) => (Some(tag), rest),
        None => (None, line),
    };
    let parts: Vec<&str> = rest.split(',').collect();
    let [start, length, largest, payload] = parts[..] else {
        return Err(format!("`{}` is not an interval: start, length, largest value, histogram", quoted(line)));
    };
    for (name, text) in [("start", start), ("length", length), ("largest value", largest)] {
        text.trim().parse::<f64>().map_err(|_| format!("the {name} `{}` is not a number", quoted(text)))?;
    }
    let bytes = STANDARD.decode(payload.trim());
    let bytes = bytes.map_err(|error| format!("the histogram is not base64 ({error}); was the line cut off?"))?;
    Ok((tag, decode(&bytes)?))
}

/// Cookies of version 2, whose counts have no fixed width.
const PLAIN: u32 = 0x1c84_9313;
const DEFLATED: u32 = 0x1c84_9314;

/// Most bytes of counts that are read: a histogram with five digits over all values has 113 MB, nine bytes for each of its buckets.
const MOST_CLAIMED: u32 = 128 << 20;

/// Bytes of counts that a histogram of version 2 claims to have, for which the library makes room before it reads them; `None` for what the
/// library refuses without them.
fn claimed(bytes: &[u8]) -> Option<u32> {
    let mut head = [0; 8];
    match hdr_v1::number32(bytes, 0)? {
        PLAIN => head.copy_from_slice(bytes.get(..8)?),
        DEFLATED => ZlibDecoder::new(bytes.get(8..)?).read_exact(&mut head).ok()?,
        _ => return None,
    }
    hdr_v1::number32(&head, 4)
}

fn decode(bytes: &[u8]) -> Result<Histogram<u64>, String> {
    let refused = |why: String| format!("the histogram of {} bytes cannot be read: {why}", bytes.len());
    if hdr_v1::fits(bytes) {
        return hdr_v1::decode(bytes).map_err(refused);
    }
    if let Some(claimed) = claimed(bytes).filter(|claimed| *claimed > MOST_CLAIMED) {
        return Err(refused(format!("it claims {claimed} bytes of counts, more than any histogram has")));
    }
    Deserializer::new().deserialize(&mut std::io::Cursor::new(bytes)).map_err(|error| refused(error.to_string()))
}

fn add(
    merged: &mut BTreeMap<String, MergedLog>,
    name: &str,
    (file, line): (&str, usize),
    histogram: Histogram<u64>,
    faults: &mut Faults<'_>,
) {
    match merged.get_mut(name) {
        None => {
            let whole =
                MergedLog { file: file.to_owned(), lines: (line, line), intervals: 1, histogram: resizing(histogram) };
            merged.insert(name.to_owned(), whole);
        }
        Some(sum) => {
            if let Err(why) = join(&mut sum.histogram, &histogram) {
                faults.at(line, why);
            }
            sum.intervals += 1;
            sum.lines.1 = line;
        }
    }
}

fn resizing(mut histogram: Histogram<u64>) -> Histogram<u64> {
    histogram.auto(true);
    histogram
}

/// Adds bucket for bucket; buckets of other widths would move values.
pub(super) fn join(sum: &mut Histogram<u64>, part: &Histogram<u64>) -> Result<(), String> {
    if sum.sigfig() != part.sigfig() {
        return Err(format!(
            "its histogram has {} digits, but another has {}; they cannot be merged exactly",
            part.sigfig(),
            sum.sigfig()
        ));
    }
    sum.add(part).map_err(|error| format!("failed to merge a histogram: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hdrhistogram::serialization::{Serializer, V2DeflateSerializer, V2Serializer};

    fn line(values: &[u64], deflated: bool) -> String {
        let mut histogram = Histogram::<u64>::new(3).unwrap();
        values.iter().for_each(|value| histogram.record(*value).unwrap());
        let mut bytes = Vec::new();
        match deflated {
            true => V2DeflateSerializer::new().serialize(&histogram, &mut bytes).map(drop).unwrap(),
            false => V2Serializer::new().serialize(&histogram, &mut bytes).map(drop).unwrap(),
        }
        format!("0.000,1.000,0.002,{}", STANDARD.encode(&bytes))
    }

    #[test]
    fn intervals_of_version_2_are_merged_by_tag() {
        let text = format!(
            "#[Histogram log format version 1.2]\n\"StartTimestamp\",\"x\"\nTag=READ,{}\nTag=UPDATE,{}\nTag=READ,{}\n",
            line(&[100, 200], true),
            line(&[7], true),
            line(&[1_000_000], false)
        );
        assert!(fits(&text));
        let merged = read("x.hdr", &text).unwrap();
        let names: Vec<_> = merged.iter().map(|(name, sum)| (name.as_str(), sum.histogram.len(), sum.from())).collect();
        assert_eq!(names, [("READ", 3, "x.hdr:3-5".to_owned()), ("UPDATE", 1, "x.hdr:4".to_owned())]);
        assert!(merged["READ"].histogram.equivalent(merged["READ"].histogram.max(), 1_000_000));
    }

    #[test]
    fn a_histogram_that_claims_gigabytes_is_refused_before_there_is_room_for_them() {
        let mut bytes = PLAIN.to_be_bytes().to_vec();
        bytes.extend_from_slice(&u32::MAX.to_be_bytes());
        assert!(decode(&bytes).unwrap_err().contains("it claims 4294967295 bytes of counts"));
        let usual = line(&[5], true);
        let payload = STANDARD.decode(usual.rsplit(',').next().unwrap()).unwrap();
        assert!(claimed(&payload).is_some_and(|claimed| claimed < 1_000));
    }

    #[test]
    fn every_bad_interval_is_named() {
        let good = line(&[1], true);
        let text =
            format!("#[Logging for: READ]\n{good}\n{}\n0.1,0.2\nx,1,1,AAAA\n0,1,1,AAAA\n", &good[..good.len() - 7]);
        let faults = read("READ.hdr", &text).unwrap_err();
        assert_eq!(faults.iter().map(|fault| fault.line).collect::<Vec<_>>(), [Some(3), Some(4), Some(5), Some(6)]);
        assert!(read("READ.hdr", "#[Logging for: READ]\n").unwrap_err()[0].text.contains("no complete interval"));
    }
}
