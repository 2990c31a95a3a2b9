//! Links between a primary and its standbys, and between users and the database: what was asked of each, what was measured before the load, and
//! how late its relay let bytes go in the measured window. May not judge a run: it tells what is beyond a bound.

use crate::findings::evaluate::Findings;
use crate::findings::point::PointFindings;
use crate::findings::run::RunFindings;
use crate::findings::telemetry::traces_of;
use proofload_analysis::distribution::{mean, median};
use proofload_model::deployment::InstanceName;
use proofload_model::facts::replication as facts;
use proofload_model::replication::{LinkAsked, clients_link, link, replication};
use proofload_model::samples::Fact;
use proofload_model::series::{SeriesName, relay};
use proofload_model::settings::Settings;
use proofload_record::Attempt;

/// How late the median of a second may be: a share of the delay of one way, and at least a time, ms. Source: docs/guides/replication.md.
const MEDIAN_SHARE: f64 = 0.05;
const MEDIAN_LEAST: f64 = 0.1;

/// How late the 99th percentile of a second may be: a share of the round trip, and at least a time, ms. Six threads that never rest on two
/// cores make a timer late by 6 to 8 ms there, and its median by no more than 0.07. Source: docs/guides/replication.md.
const P99_SHARE: f64 = 0.2;
const P99_LEAST: f64 = 10.0;

/// What a link did.
#[derive(Debug, Clone, PartialEq)]
pub struct LinkUse {
    /// End that is not the primary's: a standby, or the users, by the name of the load generator.
    pub end: InstanceName,
    /// Round trip that was asked, ms.
    pub asked: f64,
    /// Median round trip before the load, ms; `None` where it was not measured.
    pub measured: Option<f64>,
    /// Lateness of what left, median of a second, ms: the median over the seconds, of the direction where it is larger. `None` in records from
    /// before it was read.
    pub late_p50: Option<f64>,
    /// Likewise the 99th percentile of a second.
    pub late_p99: Option<f64>,
    /// CPU time of its relay, both directions, CPU s/s.
    pub cpu: Option<f64>,
}

impl LinkUse {
    /// Tells whether users come by it.
    pub fn is_of_users(&self) -> bool {
        self.end == InstanceName::clients()
    }

    /// How late the relay was in words, where that is beyond a bound: of the median, and where commits or users wait for it of the 99th
    /// percentile, which is that of their latencies. Of a link without a delay nothing was asked.
    fn fault(&self, commits_wait: bool) -> Option<String> {
        // Where the trip of users was not measured their relay was not judged either: records from before that was done.
        if self.asked <= 0.0 || (self.is_of_users() && self.measured.is_none()) {
            return None;
        }
        let median = (MEDIAN_SHARE * self.asked / 2.0).max(MEDIAN_LEAST);
        let p99 = (P99_SHARE * self.asked).max(P99_LEAST);
        let beyond = |(what, found, most): (&str, Option<f64>, f64)| {
            let found = found.filter(|found| *found > most)?;
            let relay = if self.is_of_users() { "of the users".to_owned() } else { format!("to {}", self.end) };
            Some(format!(
                "the relay {relay} was late: {what} of its releases was {found:.2} ms after its time in the median \
                 second of the measured window, at most {most:.2} ms is accepted (round trip {} ms)",
                self.asked
            ))
        };
        let tail = ("the 99th percentile", self.late_p99.filter(|_| commits_wait || self.is_of_users()), p99);
        [("the median", self.late_p50, median), tail].into_iter().find_map(beyond)
    }
}

/// Relays of an attempt that were late, in words.
pub(crate) fn late_relays(attempt: &Attempt, settings: &Settings, stretch: Option<(f64, f64)>) -> Vec<String> {
    let commits_wait = replication(settings).ok().flatten().is_some_and(|asked| asked.mode.waits());
    links(attempt, settings, stretch).iter().filter_map(|link| link.fault(commits_wait)).collect()
}

/// The links of an attempt, that of the users first; empty where all are connected directly.
fn links(attempt: &Attempt, settings: &Settings, stretch: Option<(f64, f64)>) -> Vec<LinkUse> {
    let standbys = replication(settings).ok().flatten().map(|asked| asked.standbys).unwrap_or_default();
    let of_standbys = link(settings).into_iter().flat_map(|asked| standbys.iter().map(move |one| (one.clone(), asked)));
    let of_users = clients_link(settings).map(|asked| (InstanceName::clients(), asked));
    of_users.into_iter().chain(of_standbys).map(|link| link_use(attempt, stretch, link)).collect()
}

fn link_use(attempt: &Attempt, stretch: Option<(f64, f64)>, (end, asked): (InstanceName, LinkAsked)) -> LinkUse {
    // The relay of the users is watched beside the primary, that of a standby beside the standby.
    let watched = if end == InstanceName::clients() { InstanceName::primary() } else { end.clone() };
    let trip = |fact: &&Fact| facts::RTT_P50.is_of(fact) && fact.instance == end;
    let by_direction = |series: SeriesName, fold: fn(&[f64]) -> f64| -> Vec<f64> {
        let traces = stretch.map(|stretch| {
            traces_of(attempt, &watched, series).into_iter().map(move |trace| trace.within(stretch).values())
        });
        let seen = traces.into_iter().flatten().filter(|values| !values.is_empty());
        seen.map(|values| fold(&values)).collect()
    };
    let later = |series| by_direction(series, median).into_iter().reduce(f64::max);
    LinkUse {
        asked: asked.rtt.as_secs_f64() * 1e3,
        measured: attempt.facts.iter().rfind(trip).and_then(|fact| fact.number),
        late_p50: later(relay::LATE_P50),
        late_p99: later(relay::LATE_P99),
        cpu: by_direction(relay::CPU, mean).into_iter().reduce(|one, other| one + other),
        end,
    }
}

/// The links of a point over its runs: means of the round trip and the CPU time, and the run whose relay was latest.
pub fn links_of_point(findings: &Findings<'_>, point: &PointFindings) -> Vec<LinkUse> {
    let settings = findings.record.plan.settings(&findings.record.study, point.id);
    let of_run = |run: &RunFindings| Some(links(findings.finished(run.run.index)?, &settings, run.window_seconds()));
    let all: Vec<LinkUse> = point.runs.iter().filter_map(of_run).flatten().collect();
    let mut found: Vec<LinkUse> = Vec::new();
    for one in &all {
        if found.iter().any(|known| known.end == one.end) {
            continue;
        }
        let of_end = |pick: fn(&LinkUse) -> Option<f64>| -> Vec<f64> {
            all.iter().filter(|other| other.end == one.end).filter_map(pick).collect()
        };
        let mean_of = |values: Vec<f64>| (!values.is_empty()).then(|| mean(&values));
        found.push(LinkUse {
            end: one.end.clone(),
            asked: one.asked,
            measured: mean_of(of_end(|link| link.measured)),
            late_p50: of_end(|link| link.late_p50).into_iter().reduce(f64::max),
            late_p99: of_end(|link| link.late_p99).into_iter().reduce(f64::max),
            cpu: mean_of(of_end(|link| link.cpu)),
        });
    }
    found
}

/// Median round trip to the standbys of a point before the load, over its runs, ms; `None` where none was measured.
pub fn measured_round_trip(findings: &Findings<'_>, point: &PointFindings) -> Option<f64> {
    let attempts = point.runs.iter().filter_map(|run| findings.finished(run.run.index));
    let facts = attempts.flat_map(|attempt| &attempt.facts);
    let facts = facts.filter(|fact| facts::RTT_P50.is_of(fact) && fact.instance != InstanceName::clients());
    let trips: Vec<f64> = facts.filter_map(|fact| fact.number).collect();
    (!trips.is_empty()).then(|| mean(&trips))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn link(asked: f64, late_p50: f64, late_p99: f64) -> LinkUse {
        let (late_p50, late_p99) = (Some(late_p50), Some(late_p99));
        LinkUse { end: InstanceName::standby(1), asked, measured: None, late_p50, late_p99, cpu: None }
    }

    fn fault(asked: f64, late_p50: f64, late_p99: f64) -> Option<String> {
        link(asked, late_p50, late_p99).fault(true)
    }

    #[test]
    fn a_relay_is_late_beyond_a_share_of_its_delay_and_at_least_a_time() {
        assert_eq!(fault(1.0, 0.1, 10.0), None);
        assert_eq!(
            fault(1.0, 0.15, 0.5).as_deref(),
            Some(
                "the relay to standby-1 was late: the median of its releases was 0.15 ms after its time in the median second \
                 of the measured window, at most 0.10 ms is accepted (round trip 1 ms)"
            )
        );
        assert!(fault(1.0, 0.05, 10.5).is_some_and(|text| text.contains("the 99th percentile")));
        assert_eq!(fault(100.0, 2.4, 19.0), None);
        assert!(fault(100.0, 2.6, 3.0).is_some() && fault(100.0, 1.0, 21.0).is_some());
        assert_eq!(fault(0.0, 5.0, 50.0), None, "nothing was asked of it");
    }

    #[test]
    fn a_tail_of_a_relay_that_no_commit_waits_for_is_no_fault() {
        assert_eq!(link(1.0, 0.05, 50.0).fault(false), None);
        assert!(link(1.0, 0.15, 0.5).fault(false).is_some_and(|text| text.contains("the median")));
    }

    #[test]
    fn every_user_waits_for_the_relay_of_the_users_whatever_commits_wait_for() {
        let of_users = |late_p50, late_p99| {
            let measured = Some(1.1);
            LinkUse { end: InstanceName::clients(), measured, ..link(1.0, late_p50, late_p99) }
        };
        assert_eq!(of_users(0.05, 9.0).fault(false), None);
        for late in [of_users(0.15, 0.5), of_users(0.05, 50.0)] {
            assert!(late.fault(false).is_some_and(|text| text.starts_with("the relay of the users was late: ")));
            let of_before = LinkUse { measured: None, ..late };
            assert_eq!(of_before.fault(false), None, "a record from before users' relays were measured");
        }
    }
}
