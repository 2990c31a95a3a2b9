//! Keys of a point's metrics: a row of the table, a latency of one kind of operation, a cost of a unit of work, a counter of the engine.
//! The text of a key, such as `response_ns_p99.read`, is put together and taken apart here alone.

use crate::metrics::{COSTS, METRICS, MetricName};
use proofload_model::samples::LatencyClock;
use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

/// Percentiles of response times with their shares.
pub const PERCENTILES: &[(LatencyStatistic, f64)] = &[
    (LatencyStatistic::P50, 0.50),
    (LatencyStatistic::P95, 0.95),
    (LatencyStatistic::P99, 0.99),
    (LatencyStatistic::P999, 0.999),
];

/// Start of the key of an engine's counter.
const OF_ENGINE: &str = "engine.";

/// What stands between the clock of a latency and its statistic.
const NANOSECONDS: &str = "_ns_";

/// What stands between a cost and the unit of work.
const PER: &str = "_per_";

/// Statistic of the latencies of a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LatencyStatistic {
    /// Mean of all.
    Mean,
    /// Median.
    P50,
    /// 95th percentile.
    P95,
    /// 99th percentile.
    P99,
    /// 99.9th percentile.
    P999,
}

impl LatencyStatistic {
    /// Its word in names of metrics and of settings.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::P50 => "p50",
            Self::P95 => "p95",
            Self::P99 => "p99",
            Self::P999 => "p999",
        }
    }

    /// The statistic of a word.
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Mean, Self::P50, Self::P95, Self::P99, Self::P999].into_iter().find(|one| one.word() == word)
    }

    /// Share of a percentile; `None` for the mean.
    pub fn share(self) -> Option<f64> {
        PERCENTILES.iter().find(|(known, _)| *known == self).map(|(_, share)| *share)
    }
}

/// Latency of one clock and kind of operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LatencyKey {
    /// Clock: response or service.
    pub clock: LatencyClock,
    /// Statistic.
    pub statistic: LatencyStatistic,
    /// Kind of operation, or `all`.
    pub kind: String,
}

/// Key of a metric of a point. Keys are equal where their texts are, and stand in the order of the texts.
#[derive(Debug, Clone)]
pub enum MetricKey {
    /// Name of a row of the table that is no latency.
    Named(&'static str),
    /// Response or service time.
    Latency(LatencyKey),
    /// Cost of a unit of work: start of the name, unit of work.
    Cost(&'static str, String),
    /// Counter of the engine by the engine's name.
    Engine(String),
}

impl MetricKey {
    /// Key of a latency.
    pub fn latency_of(clock: LatencyClock, statistic: LatencyStatistic, kind: &str) -> Self {
        Self::Latency(LatencyKey { clock, statistic, kind: kind.to_owned() })
    }

    /// Key of a response time.
    pub fn response(statistic: LatencyStatistic, kind: &str) -> Self {
        Self::latency_of(LatencyClock::Response, statistic, kind)
    }

    /// The latency; `None` for other metrics.
    pub const fn latency(&self) -> Option<&LatencyKey> {
        match self {
            Self::Latency(latency) => Some(latency),
            Self::Named(_) | Self::Cost(..) | Self::Engine(_) => None,
        }
    }

    /// The engine's name of its counter; `None` for other metrics.
    pub fn engine_counter(&self) -> Option<&str> {
        match self {
            Self::Engine(name) => Some(name),
            Self::Named(_) | Self::Cost(..) | Self::Latency(_) => None,
        }
    }

    /// Family that it belongs to and its kind within: `response_ns_p99` and `read`; the kind is `None` where the metric stands alone.
    pub fn family(&self) -> (String, Option<String>) {
        let text = self.to_string();
        match text.split_once('.') {
            Some((family, kind)) => (family.to_owned(), Some(kind.to_owned())),
            None => (text, None),
        }
    }

    /// Parts of the text.
    fn parts(&self) -> [&str; 5] {
        match self {
            Self::Named(name) => [*name, "", "", "", ""],
            Self::Latency(LatencyKey { clock, statistic, kind }) => {
                [clock.word(), NANOSECONDS, statistic.word(), ".", kind.as_str()]
            }
            Self::Cost(start, work) => [*start, PER, work.as_str(), "", ""],
            Self::Engine(name) => [OF_ENGINE, name.as_str(), "", "", ""],
        }
    }

    /// Bytes of the text.
    fn bytes(&self) -> impl Iterator<Item = u8> {
        self.parts().into_iter().flat_map(str::bytes)
    }
}

impl fmt::Display for MetricKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.parts().into_iter().try_for_each(|part| f.write_str(part))
    }
}

impl FromStr for MetricKey {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(name) = text.strip_prefix(OF_ENGINE) {
            return Ok(Self::Engine(name.to_owned()));
        }
        let named = || METRICS.iter().find(|row| row.name == text).map(|row| Self::Named(row.name));
        let cost = || {
            let (start, work) = text.split_once(PER)?;
            let cost = COSTS.iter().find(|cost| cost.start == start)?;
            Some(cost.key(work))
        };
        latency(text).or_else(named).or_else(cost).ok_or_else(|| format!("there is no metric {text}"))
    }
}

/// Reads the key of a latency.
fn latency(text: &str) -> Option<MetricKey> {
    let (head, kind) = text.split_once('.')?;
    let (clock, statistic) = head.split_once(NANOSECONDS)?;
    let clock = LatencyClock::from_word(clock).filter(|clock| *clock != LatencyClock::SendLag)?;
    Some(MetricKey::latency_of(clock, LatencyStatistic::from_word(statistic)?, kind))
}

impl From<MetricName> for MetricKey {
    fn from(row: MetricName) -> Self {
        latency(row.name).unwrap_or(Self::Named(row.name))
    }
}

impl From<&MetricName> for MetricKey {
    fn from(row: &MetricName) -> Self {
        Self::from(*row)
    }
}

impl From<&MetricKey> for MetricKey {
    fn from(key: &MetricKey) -> Self {
        key.clone()
    }
}

impl PartialEq for MetricKey {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for MetricKey {}

impl PartialEq<MetricName> for MetricKey {
    fn eq(&self, other: &MetricName) -> bool {
        self.bytes().eq(other.name.bytes())
    }
}

impl PartialOrd for MetricKey {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for MetricKey {
    fn cmp(&self, other: &Self) -> Ordering {
        self.bytes().cmp(other.bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::{POWER, READS, RESPONSE_P99, THROUGHPUT};

    #[test]
    fn keys_are_read_as_they_are_written() {
        let service = MetricKey::latency_of(LatencyClock::Service, LatencyStatistic::Mean, "read_modify_write");
        for (key, text) in [
            (MetricKey::from(THROUGHPUT), "throughput"),
            (MetricKey::from(RESPONSE_P99), "response_ns_p99.all"),
            (MetricKey::from(POWER), "power_w.measured"),
            (service, "service_ns_mean.read_modify_write"),
            (READS.key("query"), "reads_per_query"),
            (MetricKey::Engine("io.reads".to_owned()), "engine.io.reads"),
        ] {
            assert_eq!(key.to_string(), text);
            let read: MetricKey = text.parse().unwrap();
            assert_eq!(read, key);
            assert_eq!(std::mem::discriminant(&read), std::mem::discriminant(&key), "{text}");
        }
        for row in METRICS {
            assert_eq!(row.name.parse::<MetricKey>(), Ok(row.key()));
            assert!(row.key() == *row && row.key().to_string() == row.name, "{row:?}");
        }
        for wrong in ["response_ns_p98.read", "send_lag_ns_p99.all", "response_ns_p99", "colours_per_query", ""] {
            assert_eq!(wrong.parse::<MetricKey>(), Err(format!("there is no metric {wrong}")));
        }
    }

    #[test]
    fn keys_stand_in_the_order_of_their_texts() {
        let counters = ["a", "b.c", "b_c"].map(|name| MetricKey::Engine(name.to_owned()));
        let kinds = ["all", "new_order", "new"].map(|kind| MetricKey::response(LatencyStatistic::P99, kind));
        let mut keys: Vec<MetricKey> = METRICS.iter().map(MetricKey::from).chain(counters).chain(kinds).collect();
        keys.extend(COSTS.iter().map(|cost| cost.key("transaction")));
        let mut texts: Vec<String> = keys.iter().map(ToString::to_string).collect();
        keys.sort();
        texts.sort();
        assert_eq!(keys.iter().map(ToString::to_string).collect::<Vec<_>>(), texts);
    }

    #[test]
    fn families_end_at_the_first_point() {
        let family = |text: &str| text.parse::<MetricKey>().unwrap().family();
        assert_eq!(family("response_ns_p99.read"), ("response_ns_p99".to_owned(), Some("read".to_owned())));
        assert_eq!(family("engine.io.reads"), ("engine".to_owned(), Some("io.reads".to_owned())));
        assert_eq!(family("tpm"), ("tpm".to_owned(), None));
    }
}
