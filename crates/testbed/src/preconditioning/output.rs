//! What fio's JSON says of writes or reads; pure. The document itself is kept whole in the record.

use proofload_model::error::Error;
use proofload_model::units::{Bytes, PerSecond};
use serde_json::Value;

/// Which way bytes go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    Read,
    Write,
}

impl Direction {
    /// fio's word.
    const fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
        }
    }
}

/// What a job moved.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Transfer {
    /// Bytes.
    pub(super) bytes: Bytes,
    /// Bytes per second while it ran, by fio.
    pub(super) bandwidth: PerSecond,
    /// Requests per second while it ran, by fio.
    pub(super) iops: PerSecond,
}

/// Reads the one job of a document of `--output-format=json+`; lines of text before and after the JSON are fio's notes.
/// Fails when fio reports an error, or when a figure is missing: fio before 3.0 had other fields.
pub(super) fn read(document: &str, direction: Direction) -> Result<Transfer, Error> {
    let value = json_of(document)?;
    let job = value.pointer("/jobs/0").ok_or_else(|| Error::new("fio's JSON contains no job"))?;
    match job.get("error").and_then(Value::as_i64) {
        Some(0) => (),
        Some(error) => {
            let text = std::io::Error::from_raw_os_error(i32::try_from(error).unwrap_or(0));
            return Err(Error::new(format!("fio reports error {error}: {text}")));
        }
        None => return Err(missing("error", direction)),
    }
    let way = direction.word();
    let figure = |name: &str| job.pointer(&format!("/{way}/{name}")).ok_or_else(|| missing(name, direction));
    let number = |name: &str| figure(name)?.as_f64().ok_or_else(|| missing(name, direction));
    let bytes = figure("io_bytes")?.as_u64().ok_or_else(|| missing("io_bytes", direction))?;
    Ok(Transfer { bytes: Bytes(bytes), bandwidth: PerSecond(number("bw_bytes")?), iops: PerSecond(number("iops")?) })
}

/// What fio wrote before the JSON, for errors.
pub(super) fn notes(document: &str) -> &str {
    if document.starts_with('{') {
        return "";
    }
    document.split_once("\n{").map_or(document, |(before, _)| before).trim()
}

fn json_of(document: &str) -> Result<Value, Error> {
    let start = if document.starts_with('{') { Some(0) } else { document.find("\n{").map(|at| at + 1) };
    let start = start.ok_or_else(|| Error::new("fio wrote no JSON"))?;
    let mut values = serde_json::Deserializer::from_str(&document[start..]).into_iter::<Value>();
    match values.next() {
        Some(Ok(value)) => Ok(value),
        Some(Err(error)) => Err(Error::new(format!("failed to read fio's JSON: {error}"))),
        None => Err(Error::new("fio wrote no JSON")),
    }
}

fn missing(name: &str, direction: Direction) -> Error {
    Error::new(format!("fio's JSON has no {name:?} of {}s; use fio 3.0 or later", direction.word()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"{"fio version": "fio-3.33", "jobs": [{"jobname": "r", "error": 0, "write":
        {"io_bytes": 8388608, "bw": 1024000, "bw_bytes": 1048576000, "iops": 256000.5}}]}"#;

    #[track_caller]
    fn check_error(document: &str, expected: &str) {
        let error = read(document, Direction::Write).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }

    #[test]
    fn figures_are_read_with_or_without_notes_around() {
        let expected =
            Transfer { bytes: Bytes(8 << 20), bandwidth: PerSecond(1_048_576_000.0), iops: PerSecond(256_000.5) };
        assert_eq!(read(GOOD, Direction::Write).unwrap(), expected);
        let noted = format!("note: queue depth will be capped at 1\n{GOOD}\nfio: done\n");
        assert_eq!(read(&noted, Direction::Write).unwrap(), expected);
        assert_eq!((notes(&noted), notes(GOOD)), ("note: queue depth will be capped at 1", ""));
    }

    #[test]
    fn errors_truncation_and_old_versions_are_refused() {
        check_error(&GOOD.replace("\"error\": 0", "\"error\": 28"), "No space left on device");
        check_error(&GOOD.replace("bw_bytes", "bandwidth"), "\"bw_bytes\"");
        check_error(&GOOD.replace("io_bytes", "io_kbytes"), "fio 3.0 or later");
        check_error(&GOOD[..60], "read fio's JSON");
        let error = read(GOOD, Direction::Read).unwrap_err().to_string();
        assert!(error.contains("of reads"), "{error}");
        check_error("{\"jobs\": []}", "no job");
        check_error("fio: engine not loadable", "no JSON");
        check_error("", "no JSON");
    }
}
