//! Calibration of what a commit costs by what it waits for, before the load of the first run whose commits wait: levels in turns on one
//! connection, each round in an order that is drawn, so that what others do to the host is common to them. It holds for every run with the
//! same data, limits, standbys and link, and for the rest of the record.

use super::preparation::PreparedRun;
use super::run_context::RunContext;
use crate::live::Phase;
use proofload_analysis::random::Random;
use proofload_model::commit_levels::{CommitCalibration, CommitLevel};
use proofload_model::error::Error;
use proofload_model::events::RunEvent;
use proofload_model::log_level::LogLevel;
use proofload_model::replication::{ReplicationAsked, link};
use serde_json::json;
use std::time::Duration;

/// How long commits are measured at most.
const WITHIN: Duration = Duration::from_secs(5);

/// Rounds after which enough is known.
const ROUNDS: usize = 200;

/// Rounds that come first and are left out: a connection and its caches are new.
const WARM_UP_ROUNDS: usize = 2;

/// Number of this use of the study's seed.
const STREAM: u64 = 44;

/// Finds out what commits of this deployment cost, once, and names in the run what holds for it. A calibration that fails is noted with its
/// reason and loses no run.
pub(super) fn calibrate(context: &mut RunContext<'_>, prepared: &PreparedRun) -> Result<(), Error> {
    // Without a standby that commits wait for, all levels but the first mean the same.
    let Some(asked) = prepared.replication.as_ref().filter(|asked| asked.mode.waits()) else { return Ok(()) };
    let key = key(prepared, asked);
    if !context.commits_known.contains(&key) {
        context.heard.view.phase(Phase::CalibratingCommits);
        match measure(context, prepared) {
            Ok(rounds) if rounds.is_empty() => return Ok(()),
            Ok(rounds) => {
                let found = CommitCalibration { key: key.clone(), levels: CommitLevel::ALL.to_vec(), rounds };
                context.heard.journal.study_event(RunEvent::CommitsCalibrated(found))?;
                context.commits_known.insert(key.clone());
            }
            Err(error) => {
                context.expect_no_trouble()?;
                let text = format!("calibration of commits: {error}");
                context.heard.journal.log(LogLevel::Warning, "conductor", &text)?;
                return context.heard.journal.event(RunEvent::CalibrationFailed(error.to_string()));
            }
        }
    }
    let holds = CommitCalibration { key, levels: CommitLevel::ALL.to_vec(), rounds: Vec::new() };
    context.heard.journal.event(RunEvent::CommitsCalibrated(holds))
}

/// What a calibration holds for: all that commits depend on but what they wait for.
fn key(prepared: &PreparedRun, asked: &ReplicationAsked) -> String {
    let mut settings = prepared.alone.primary().place.settings.clone();
    let connections = prepared.engine.memory().and_then(|memory| memory.connections_setting());
    settings.retain(|(name, _)| Some(name.as_str()) != connections);
    json!({
        "part": "commits",
        "data": prepared.label,
        "limits": prepared.primary().limits,
        "settings": settings,
        "standbys": asked.standbys,
        "confirm": asked.confirmation,
        "link": link(&prepared.settings),
    })
    .to_string()
}

fn measure(context: &mut RunContext<'_>, prepared: &PreparedRun) -> Result<Vec<Vec<u64>>, Error> {
    let orders = orders(prepared.run.seed);
    let asked: Vec<CommitLevel> = orders.iter().flatten().copied().collect();
    let times = context.testbed(prepared).time_commits(asked, WITHIN)?;
    Ok(by_level(&orders, &times))
}

/// The order of the levels in each round.
fn orders(seed: u64) -> Vec<[CommitLevel; CommitLevel::ALL.len()]> {
    let mut random = Random::stream(seed, STREAM);
    let drawn = |_| {
        let mut order = CommitLevel::ALL;
        for place in (1..order.len()).rev() {
            order.swap(place, random.below(place + 1));
        }
        order
    };
    (0..ROUNDS + WARM_UP_ROUNDS).map(drawn).collect()
}

/// Times of whole rounds in nanoseconds, in the order of [`CommitLevel::ALL`], without the first rounds.
fn by_level(orders: &[[CommitLevel; CommitLevel::ALL.len()]], times: &[Duration]) -> Vec<Vec<u64>> {
    let rounds = orders.iter().zip(times.chunks_exact(CommitLevel::ALL.len()));
    let sorted = |(order, times): (&[CommitLevel; CommitLevel::ALL.len()], &[Duration])| {
        let time = |level: &CommitLevel| {
            let place = order.iter().position(|one| one == level).unwrap_or(0);
            u64::try_from(times[place].as_nanos()).unwrap_or(u64::MAX)
        };
        CommitLevel::ALL.iter().map(time).collect()
    };
    rounds.skip(WARM_UP_ROUNDS).map(sorted).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_round_has_every_level_once_in_an_order_of_its_own() {
        let (found, again, other) = (orders(7), orders(7), orders(8));
        assert_eq!(found, again, "equal seeds give equal orders");
        assert_ne!(found, other);
        for order in &found {
            let mut sorted = *order;
            sorted.sort_unstable();
            assert_eq!(sorted, CommitLevel::ALL);
        }
        let first = |level| found.iter().filter(|order| order[0] == level).count();
        assert!(CommitLevel::ALL.map(first).iter().all(|count| (20..=65).contains(count)), "each leads as often");
    }

    #[test]
    fn times_are_kept_by_level_and_a_broken_round_is_left_out() {
        let orders = orders(7);
        let time = |level: CommitLevel| Duration::from_nanos(level as u64 + 1);
        let times: Vec<Duration> = orders.iter().take(5).flatten().map(|level| time(*level)).collect();
        let found = by_level(&orders, &times[..23]);
        assert_eq!(found, [[1, 2, 3, 4, 5], [1, 2, 3, 4, 5]], "two of four whole rounds come first");
    }
}
