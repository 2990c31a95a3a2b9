//! Numbers of a view in as few letters as they need. Pure.

use proofload_report::grouped;

/// A rate: `569/s`, `12,345/s`, `3.4/s`.
pub(crate) fn rate_text(rate: f64) -> String {
    if rate.is_finite() { format!("{}/s", rate_number(rate)) } else { rate_number(rate) }
}

/// Number of a rate, without its unit; a dash where there is none.
pub(crate) fn rate_number(rate: f64) -> String {
    match rate {
        rate if !rate.is_finite() => "–".to_owned(),
        rate if rate.abs() < 10.0 && rate.fract().abs() > 0.05 => format!("{rate:.1}"),
        rate => grouped(rate, 0),
    }
}

/// A response time in ns: `850 µs`, `4.1 ms`, `41 ms`, `1.2 s`.
pub(crate) fn response_text(nanoseconds: u64) -> String {
    let nanoseconds = nanoseconds as f64;
    let (value, unit) = match nanoseconds {
        below if below < 1e6 => (nanoseconds / 1e3, "µs"),
        below if below < 1e9 => (nanoseconds / 1e6, "ms"),
        _ => (nanoseconds / 1e9, "s"),
    };
    if value < 10.0 { format!("{value:.1} {unit}") } else { format!("{value:.0} {unit}") }
}

/// A share in per cent: `4 %`.
pub(crate) fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    if percent > 0.0 && percent < 0.5 { "<1 %".to_owned() } else { format!("{percent:.0} %") }
}

/// Minutes and seconds, with hours where there are any: `1:06`, `1:02:03`.
pub(crate) fn clock_text(seconds: u64) -> String {
    match (seconds / 3_600, seconds / 60 % 60, seconds % 60) {
        (0, minutes, seconds) => format!("{minutes}:{seconds:02}"),
        (hours, minutes, seconds) => format!("{hours}:{minutes:02}:{seconds:02}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let rates = [568.6, 12_345.0, 3.42, 4.0, f64::NAN].map(rate_text);
        assert_eq!(rates, ["569/s", "12,345/s", "3.4/s", "4/s", "–"]);
        let times = [850_000, 4_100_000, 41_000_000, 1_240_000_000].map(response_text);
        assert_eq!(times, ["850 µs", "4.1 ms", "41 ms", "1.2 s"]);
        assert_eq!([0.0, 0.001, 0.041].map(percent), ["0 %", "<1 %", "4 %"]);
        assert_eq!([66, 3_723].map(clock_text), ["1:06", "1:02:03"]);
    }
}
