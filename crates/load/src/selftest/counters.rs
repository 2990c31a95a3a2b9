//! Counters of a server before and after work: what an observer tells must move with it.

use super::bench::Bench;
use proofload_engine::Observer;
use proofload_model::error::Error;
use std::time::Duration;

/// How often it is looked, and how far apart: a server may tell its counts some time after the commits.
const LOOKS: u32 = 60;
const PAUSE: Duration = Duration::from_millis(200);

/// An observer, and what it counted.
pub(crate) type CommitsSeen = (Box<dyn Observer>, f64);

/// An observer and the commits that it saw; `None` for an engine without a server to observe.
pub(crate) fn commits(bench: &Bench) -> Result<Option<CommitsSeen>, Error> {
    let Some(mut observer) = bench.engine.observer(&bench.target)? else { return Ok(None) };
    let seen = counted(&mut *observer)?;
    Ok(Some((observer, seen)))
}

/// Fails unless at least so many commits were counted since.
pub(crate) fn commits_since(bench: &Bench, before: CommitsSeen, at_least: u64) -> Result<(), Error> {
    let (mut observer, before) = before;
    let mut seen = before;
    for _ in 0..LOOKS {
        seen = counted(&mut *observer)?;
        if seen - before >= at_least as f64 {
            return Ok(());
        }
        bench.clock.sleep(PAUSE);
    }
    Err(Error::new(format!(
        "the server counted {} commits while {at_least} transactions were acknowledged",
        seen - before
    )))
}

fn counted(observer: &mut dyn Observer) -> Result<f64, Error> {
    let seen = observer.observe()?;
    let commits = seen.iter().filter(|one| one.cumulative && one.reading.name == "commits");
    Ok(commits.map(|one| one.reading.value).sum())
}
