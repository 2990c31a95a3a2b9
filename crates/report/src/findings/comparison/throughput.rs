//! Throughput that was to be compared and could not be, in words: whoever reads a comparison takes its first figure for throughput. May not judge
//! other metrics.

use super::compare::{Comparison, LeftOut};
use super::outcome::is_throughput;
use crate::metrics::MetricKey;

/// Points that a sentence names.
const NAMED: usize = 3;

impl Comparison<'_> {
    /// Sentence on throughput that was asked for and could not be compared, everywhere or at some points, with the reasons; `None` where there
    /// is no such point.
    pub(crate) fn throughput_missing(&self) -> Option<String> {
        let workload = self.findings.0.workload;
        let is_compared =
            |pair: usize, key: &MetricKey| self.rows.iter().any(|row| row.pair == pair && row.metric.key == *key);
        let is_missing =
            |left: &&LeftOut| is_throughput(workload, &left.metric.key) && !is_compared(left.pair, &left.metric.key);
        let missing: Vec<&LeftOut> = self.left_out.iter().filter(is_missing).collect();
        let metric = &missing.first()?.metric;
        let compared = |pair: usize| is_compared(pair, &metric.key);
        let mut whys: Vec<(&str, Vec<usize>)> = Vec::new();
        for left in missing.iter().filter(|left| left.metric.key == metric.key) {
            match whys.iter_mut().find(|(why, _)| *why == left.why.as_str()) {
                Some((_, pairs)) => pairs.push(left.pair),
                None => whys.push((left.why.as_str(), vec![left.pair])),
            }
        }
        let is_everywhere = whys.len() == 1 && !(0..self.pairs.len()).any(compared);
        let told = |(why, pairs): &(&str, Vec<usize>)| {
            if is_everywhere { (*why).to_owned() } else { format!("at {}: {why}", self.named_pairs(pairs)) }
        };
        let whys: Vec<String> = whys.iter().map(told).collect();
        let name = match metric.title.as_str() {
            "Throughput" => "Throughput".to_owned(),
            title => format!("Throughput ({title})"),
        };
        let between = if is_everywhere { ": " } else { " " };
        Some(format!("{name} could not be compared{between}{}.", whys.join("; ")))
    }

    /// Names of the first of some pairs, and how many there are more.
    fn named_pairs(&self, pairs: &[usize]) -> String {
        let names: Vec<&str> = pairs.iter().take(NAMED).map(|pair| self.described(*pair)).collect();
        let more = match pairs.len().saturating_sub(NAMED) {
            0 => String::new(),
            1 => " and 1 more point".to_owned(),
            more => format!(" and {more} more points"),
        };
        format!("{}{more}", names.join(", "))
    }
}
