//! What differs by workload, and the list of all: a file and one line add one.

use crate::metrics::MetricName;
use crate::numbers::capital;
use proofload_model::facts::FactName;
use proofload_model::settings::{Settings, setting};

/// Every workload that a report knows by name; others are told as [`super::generic::WORKLOAD`].
pub const WORKLOADS: &[Workload] = &[super::tprocc::WORKLOAD, super::ycsb::WORKLOAD, super::warehouse::WORKLOAD];

/// Stands for a setting that is not given, or 0.
pub const ABSENT: &str = "";

/// Stands for any value of a setting.
pub const GIVEN: &str = "*";

/// The profile whose figures need no name beside them.
pub const SPEC: &str = "spec";

/// What a report says of a workload. Texts may set names as code in backquotes.
#[derive(Debug, Clone, Copy)]
pub struct Workload {
    /// `workload.kind` of the study; empty for the fallback.
    pub kind: &'static str,
    /// Its name at the start of a sentence.
    pub name: fn(&Settings) -> String,
    /// Text above the title, behind "Proofload study"; `None`: the kind itself.
    pub kicker: Option<&'static str>,
    /// The rules by which data, inputs and transactions were made, where the workload has several: their name, [`SPEC`] the usual ones.
    pub profile: Option<fn(&Settings) -> String>,
    /// What it is and is not, for readers of the JSON form.
    pub disclaimer: &'static str,
    /// The same at the foot of a page; empty where there is nothing to disclaim.
    pub foot: &'static str,
    /// One unit of work.
    pub work: Work,
    /// Kinds of operations in the order of tables, with their titles.
    pub kinds: &'static [(&'static str, &'static str)],
    /// The metric of curves, bars and summary.
    pub headline: MetricName,
    /// Settings that say how large it is: path, word for one, word for many, in the order of the summary.
    pub scale: &'static [(&'static str, &'static str, &'static str)],
    /// Kinds whose 99th percentile is in the summary; all kinds together where a run has none of them.
    pub tails: &'static [&'static str],
    /// Columns of the table behind the main chart; throughput in per cent follows them.
    pub figure: &'static [MetricName],
    /// Columns of the main table, those of a missing kind left out.
    pub results: &'static [MetricName],
    /// The remark below the main table.
    pub results_note: &'static str,
    /// Columns of the table for a terminal.
    pub terminal: &'static [MetricName],
    /// What it is, for the section on method.
    pub description: &'static str,
    /// Sentences of that section for values of settings: path, value, sentence. The value [`ABSENT`] holds where the setting
    /// is not given or 0, [`GIVEN`] where it is.
    pub choices: &'static [(&'static str, &'static str, &'static str)],
    /// What a run is checked for at its end.
    pub verification: &'static str,
    /// Terms and what they mean here, first of the list of definitions.
    pub definitions: &'static [(&'static str, &'static str)],
    /// Facts that the section on method shows.
    pub facts: &'static [FactName],
    /// Rates under other names and units: metric, factor from operations per second.
    pub rates: &'static [(MetricName, f64)],
    /// Kinds that the database counts as well.
    pub counted: &'static [CountedKind],
    /// Metrics that two records are compared by. An ending `.*` stands for each kind of [`Workload::tails`], or for all kinds
    /// together where there are none.
    pub compared: &'static [&'static str],
    /// Metrics of its own that two records can be compared by as well.
    pub rated: &'static [MetricName],
    /// Use of host and device that two records can be compared by.
    pub observed: &'static [MetricName],
    /// Titles of its settings that are often factors: path and title.
    pub settings: &'static [(&'static str, &'static str)],
    /// Which clocks are told apart.
    pub clocks: Clocks,
    /// Values that must lie beyond a percentile for it to be printed; 0: any, its interval then says what it is worth.
    pub beyond_percentile: u64,
    /// The rules of a paced load of it; `None` where it cannot be paced.
    pub paced: Option<PacedRules>,
    /// Tells whether a kind of operation writes nothing, so that its end waits for no standby.
    pub is_read: fn(&str) -> bool,
    /// Tells whether operations are transactions of several statements, of which a report has the isolation level.
    pub has_transactions: bool,
    /// Whether its queries are rated one by one: a point has metrics of scans and sizes, and a comparison has pairs of queries.
    pub rates_queries: bool,
    /// Whether sections on stalls, failures and efficiency say so when there is nothing to report.
    pub tells_absence: bool,
}

/// What a paced load must keep, and what it is measured by.
#[derive(Debug, Clone, Copy)]
pub struct PacedRules {
    /// The kind that the ceiling counts, and its plural in words.
    pub counted: (&'static str, &'static str),
    /// Kinds with the longest response time that their 90th percentile may have, s.
    pub limits: &'static [(&'static str, f64)],
    /// Where the rules stand.
    pub source: &'static str,
    /// Number a minute for each unit of scale below which the database is too large for the load: setting of the scale, its name, number.
    pub least: (&'static str, &'static str, f64),
}

/// What one unit of work is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Work {
    /// One, such as `transaction`; also the end of metrics such as `reads_per_transaction`.
    pub one: &'static str,
    /// Several.
    pub many: &'static str,
    /// One, with a capital.
    pub one_capital: &'static str,
    /// Several, with a capital.
    pub many_capital: &'static str,
}

/// A kind of operation that the database counts too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CountedKind {
    /// The kind.
    pub kind: &'static str,
    /// The database's counter among the marks.
    pub counter: &'static str,
    /// Metric by the clients' counts, per minute.
    pub metric: MetricName,
    /// Metric by the database's counter, per minute.
    pub metric_database: MetricName,
    /// What is said when no run has the kind, a lower-case fragment.
    pub missing: &'static str,
    /// Name of the audit that compares the two.
    pub audit: &'static str,
    /// What must hold, in words.
    pub rule: &'static str,
}

/// Which clocks of an operation a report tells apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clocks {
    /// Response time alone.
    Response,
    /// Response and service time.
    Both,
}

impl Work {
    /// `a transaction`, `an operation`.
    pub(crate) fn with_article(&self) -> String {
        let article = if self.one.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
        format!("{article} {}", self.one)
    }
}

impl Workload {
    /// What a kind of operation is called: `new_order` as `New-Order`.
    pub(crate) fn kind_title(&self, kind: &str) -> String {
        let known = self.kinds.iter().find(|(known, _)| *known == kind).map(|(_, title)| (*title).to_owned());
        known.unwrap_or_else(|| kind.split('_').map(capital).collect::<Vec<_>>().join("-"))
    }

    /// Sorts kinds of operations for tables; unknown ones follow by name.
    pub(crate) fn sort_kinds(&self, kinds: &mut [String]) {
        let place = |kind: &String| self.kinds.iter().position(|(known, _)| known == kind).unwrap_or(self.kinds.len());
        kinds.sort_by_key(|kind| (place(kind), kind.clone()));
    }
}

/// The profile of a study; `None` where its workload has only one.
pub fn profile(settings: &Settings) -> Option<String> {
    workload(settings).profile.map(|profile| profile(settings))
}

/// The profile of a study whose figures may not be shown without its name.
pub fn named_profile(settings: &Settings) -> Option<String> {
    profile(settings).filter(|profile| profile != SPEC)
}

/// The workload of a study.
pub fn workload(settings: &Settings) -> &'static Workload {
    let kind = settings.text(setting::WORKLOAD_KIND).unwrap_or_default();
    WORKLOADS.iter().find(|known| known.kind == kind).unwrap_or(&super::generic::WORKLOAD)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_workload_is_listed_once_and_names_what_it_shows() {
        for (place, one) in WORKLOADS.iter().enumerate() {
            assert!(WORKLOADS[place + 1..].iter().all(|other| other.kind != one.kind), "{} stands twice", one.kind);
            assert!(one.results.iter().any(|column| column.name == one.headline.name), "{}", one.kind);
            assert_eq!(one.compared.first(), Some(&one.headline.name), "{}", one.kind);
            assert!(one.tails.iter().all(|tail| one.kinds.iter().any(|(kind, _)| kind == tail)), "{}", one.kind);
        }
    }

    #[test]
    fn kinds_that_only_read_are_told_from_those_that_write() {
        let reads = |workload: &Workload| {
            let kinds = workload.kinds.iter().map(|(kind, _)| *kind);
            kinds.filter(|kind| (workload.is_read)(kind)).collect::<Vec<_>>().join(", ")
        };
        assert_eq!(reads(&super::super::tprocc::WORKLOAD), "order_status, stock_level");
        assert_eq!(reads(&super::super::ycsb::WORKLOAD), "read, scan");
        assert_eq!(reads(&super::super::warehouse::WORKLOAD).split(", ").count(), 22);
    }

    #[test]
    fn kinds_stand_in_the_order_of_the_workload_and_have_its_titles() {
        let order = |workload: &Workload, kinds: &[&str]| {
            let mut kinds: Vec<String> = kinds.iter().map(|kind| (*kind).to_owned()).collect();
            workload.sort_kinds(&mut kinds);
            kinds.iter().map(|kind| workload.kind_title(kind)).collect::<Vec<_>>().join(", ")
        };
        let (tprocc, ycsb) = (&super::super::tprocc::WORKLOAD, &super::super::ycsb::WORKLOAD);
        assert_eq!(order(tprocc, &["a_new_kind", "payment", "new_order"]), "New-Order, Payment, A-New-Kind");
        assert_eq!(tprocc.kind_title("new_order") + &ycsb.kind_title("scan"), "New-OrderScan");
        assert_eq!(order(ycsb, &["read_modify_write", "scan", "read"]), "Read, Scan, Read-modify-write");
    }
}
