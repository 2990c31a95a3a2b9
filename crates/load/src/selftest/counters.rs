//! Counters of a server before and after known work: what an observer tells must move with it, and no total may fall.

use super::bench::Bench;
use crate::workloads::blocking_session::runtime;
use proofload_engine::Observer;
use proofload_engine::conformance::Words;
use proofload_model::error::Error;
use std::collections::BTreeMap;
use std::time::Duration;

/// How often it is looked, and how far apart: a server may tell its counts some time after the commits.
const LOOKS: u32 = 60;
const PAUSE: Duration = Duration::from_millis(200);

/// The total of the commits, which is compared with those that were acknowledged.
const COMMITS: &str = "commits";

/// Totals of a server by series and component.
type Totals = BTreeMap<(String, String), f64>;

/// An observer, and what it counted before the work.
pub(crate) struct CountersBefore {
    observer: Box<dyn Observer>,
    totals: Totals,
    /// Totals that the work moves, as the engine's words have them.
    moves: Vec<String>,
}

/// An observer and what it has counted so far; `None` for an engine without a server to observe.
pub(crate) fn counters(bench: &Bench) -> Result<Option<CountersBefore>, Error> {
    let Some(mut observer) = bench.engine.observer(&bench.target)? else { return Ok(None) };
    let totals = totals(&mut *observer)?;
    Ok(Some(CountersBefore { observer, totals, moves: Words::of(bench.engine)?.moves }))
}

/// Settles the data, so that what was changed is written, and fails unless all totals have moved since as the work says.
pub(crate) fn counters_moved(bench: &Bench, before: CountersBefore, commits: u64) -> Result<(), Error> {
    let CountersBefore { mut observer, totals: before, moves } = before;
    runtime()?.block_on(bench.engine.after_build(&bench.target))?;
    let mut found = Vec::new();
    for _ in 0..LOOKS {
        found = faults(&before, &totals(&mut *observer)?, &moves, commits);
        if found.is_empty() {
            return Ok(());
        }
        bench.clock.sleep(PAUSE);
    }
    Err(Error::new(found.join("; ")))
}

fn totals(observer: &mut dyn Observer) -> Result<Totals, Error> {
    let mut found = Totals::new();
    for one in observer.observe()?.into_iter().filter(|one| one.cumulative) {
        *found.entry((one.reading.name, one.reading.component)).or_default() += one.reading.value;
    }
    Ok(found)
}

/// The sum of a series, or of its component behind a `/`; `None` where it is not told.
fn sum(totals: &Totals, series: &str) -> Option<f64> {
    let (name, component) = series.split_once('/').map_or((series, None), |(name, part)| (name, Some(part)));
    let is_of = |key: &(String, String)| key.0 == name && component.is_none_or(|component| key.1 == component);
    totals.iter().filter(|(key, _)| is_of(key)).map(|(_, value)| *value).reduce(|sum, value| sum + value)
}

/// What has not moved as so many acknowledged transactions move it, and what has fallen.
fn faults(before: &Totals, now: &Totals, moves: &[String], commits: u64) -> Vec<String> {
    let mut found = Vec::new();
    let counted = sum(now, COMMITS).unwrap_or_default() - sum(before, COMMITS).unwrap_or_default();
    if counted < commits as f64 {
        found.push(format!("the server counted {counted} commits while {commits} transactions were acknowledged"));
    }
    for series in moves {
        match (sum(before, series), sum(now, series)) {
            (_, None) => found.push(format!("the observer does not tell {series}")),
            (before, Some(now)) if now <= before.unwrap_or_default() => {
                found.push(format!("{series} is {now} after {commits} transactions that wrote, and has not moved"));
            }
            _ => {}
        }
    }
    for ((name, component), was) in before {
        let is = now.get(&(name.clone(), component.clone()));
        if let Some(is) = is.filter(|is| *is < was) {
            found.push(format!("the total {name} {component} fell from {was} to {is}"));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: [f64; 4]) -> Totals {
        let names = [("commits", ""), ("log_bytes", ""), ("written", "data"), ("written", "log")];
        names
            .iter()
            .zip(values)
            .map(|((name, part), value)| (((*name).to_owned(), (*part).to_owned()), value))
            .collect()
    }

    fn check(now: Totals, expected: &[&str]) {
        let moves = ["log_bytes", "written/data"].map(str::to_owned);
        let found = faults(&of([100.0, 7.0, 50.0, 10.0]), &now, &moves, 20);
        assert_eq!(found.len(), expected.len(), "{found:?}");
        assert!(found.iter().zip(expected).all(|(fault, part)| fault.contains(part)), "{found:?}");
    }

    #[test]
    fn totals_move_with_the_work_and_none_falls() {
        check(of([120.0, 8.0, 51.0, 10.0]), &[]);
        check(of([119.0, 8.0, 51.0, 10.0]), &["19 commits while 20 transactions"]);
        check(of([120.0, 7.0, 51.0, 10.0]), &["log_bytes is 7"]);
        // What its component does not do, another one does not make up for.
        check(of([120.0, 8.0, 50.0, 99.0]), &["written/data is 50"]);
        check(of([120.0, 8.0, 51.0, 9.0]), &["written log fell from 10 to 9"]);
        let mut untold = of([120.0, 8.0, 51.0, 10.0]);
        untold.remove(&("log_bytes".to_owned(), String::new()));
        check(untold, &["does not tell log_bytes"]);
    }
}
