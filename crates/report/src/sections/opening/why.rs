//! Why: what was observed nearest to a limit, and what a unit of work read from the drive. Never a cause: nothing was perturbed.

use crate::blocks::{Inline, Prose, prose};
use crate::findings::{Findings, PointFindings, within_the_whole};
use crate::metrics::READS;
use proofload_analysis::bottleneck::{Candidate, Cause};
use proofload_analysis::quantity::{Interval, Quantity, Unit};

/// Reads of a unit of work below which nothing is said of them.
const FEW_READS: f64 = 0.05;

/// Reads of a unit of work that are not worth a number.
const HARDLY: f64 = 0.005;

/// Largest share that readings of a counter may give, %: they are not taken at the very instant.
const MOST_PERCENT: f64 = 105.0;

/// What was near a limit at each point, then how reads of the first compare with those of the last.
pub(super) fn why(findings: &Findings<'_>, points: &[&PointFindings]) -> Prose {
    let mut text: Prose = points.iter().flat_map(|point| at(findings, point)).collect();
    if let [first, .., last] = points {
        text.extend(reads(findings, first, last));
    }
    text
}

/// What was nearest to its limit at a point.
pub(in crate::sections) fn at(findings: &Findings<'_>, point: &PointFindings) -> Prose {
    let Some(ranking) = findings.ranking(point.id) else { return Prose::new() };
    let lead = if point.levels.is_empty() {
        Prose::new()
    } else {
        prose![capital_of(&super::words::at(findings, point)), ", "]
    };
    let found = ranking.candidates.first().map_or_else(|| prose!["no observed resource came near its limit"], observed);
    let text = [lead, found].concat();
    if point.levels.is_empty() { [capital(text), prose![". "]].concat() } else { [text, prose![". "]].concat() }
}

fn capital_of(text: &str) -> String {
    crate::sections::charts::capital(text.trim_start())
}

/// The text with a capital first letter, where it begins with words.
fn capital(mut text: Prose) -> Prose {
    if let Some(Inline::Text(first)) = text.first() {
        let first = crate::sections::charts::capital(first);
        text[0] = Inline::Datum(first);
    }
    text
}

/// A candidate in words.
fn observed(candidate: &Candidate) -> Prose {
    let share = Inline::ranged(&possible(&candidate.measure.scaled(100.0, Unit::PERCENT)), "%");
    let name = candidate.name.clone();
    match candidate.cause {
        Cause::Limit => prose!["the database used ", share, " of ", Inline::Code(name)],
        Cause::Device => prose!["the drive ", name, " was busy ", share, " of the time"],
        Cause::Processor => prose!["the cores were ", share, " busy"],
        Cause::SingleThread => {
            prose!["one thread (", name, ") was ", share, " busy, while the cores as a whole were not"]
        }
        Cause::Pressure => {
            prose!["tasks waited for ", candidate.subject.clone(), " ", share, " of the time"]
        }
        Cause::Wait => prose!["sessions spent ", share, " of their time waiting for ", name],
    }
}

/// A share whose interval ends at all of it, as in the table of candidates. One far beyond all or nothing says nothing.
fn possible(share: &Quantity) -> Quantity {
    match share.interval().bounds() {
        Some((low, high)) if low < 0.0 || high > MOST_PERCENT => {
            Quantity::new(share.value(), Unit::PERCENT, share.n(), Interval::none("too few independent seconds"))
        }
        _ => within_the_whole(share.clone()),
    }
}

/// Reads of the drive for a unit of work at two points.
fn reads(findings: &Findings<'_>, first: &PointFindings, last: &PointFindings) -> Prose {
    let work = findings.workload.work;
    let of = |point: &PointFindings| point.result(READS.key(work.one)).ok();
    let (Some(low), Some(high)) = (of(first), of(last)) else { return Prose::new() };
    if low.value().max(high.value()) < FEW_READS {
        return Prose::new();
    }
    let subject = crate::sections::charts::capital(&work.with_article());
    let times = |reads: &Quantity, point: &PointFindings| {
        let place = super::words::at(findings, point).trim_start().to_owned();
        match reads.value() {
            few if few < HARDLY => prose!["almost never ", place],
            _ => prose![Inline::ranged(reads, ""), " times ", place],
        }
    };
    [prose![subject, " read from the drive "], times(&low, first), prose![" and "], times(&high, last), prose![". "]]
        .concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_ends_at_all_or_at_what_was_read() {
        let bounds = |value, low, high| {
            possible(&Quantity::new(value, Unit::PERCENT, 30, Interval::known(low, high, "test"))).interval().bounds()
        };
        assert_eq!(bounds(98.5, 96.3, 100.7), Some((96.3, 100.0)));
        assert_eq!(bounds(100.4, 99.8, 101.0), Some((99.8, 100.4)), "readings are not taken at the very instant");
        assert_eq!(bounds(60.0, 55.0, 65.0), Some((55.0, 65.0)));
        assert_eq!([bounds(98.0, 90.0, 106.0), bounds(5.0, -1.0, 11.0)], [None, None]);
    }
}
