//! What a study has a server do that runs already: keep its data and put them back, and change its memory and its cores for a run. Only with
//! leave. May not know any engine by name.

use super::bench::{Bench, ServerLeave};
use super::part::{SelftestPart, Steps};
use crate::workloads::blocking_session::{BlockingSession, runtime};
use crate::workloads::suite;
use proofload_engine::conformance::Words;
use proofload_engine::{Backups, Engine, OwnedRow, ServerChanges, Target};
use proofload_model::error::Error;
use proofload_model::samples::Fact;
use proofload_model::units::Bytes;

/// Backups, memory and cores of a server.
pub(super) const UPKEEP: SelftestPart = SelftestPart { name: "upkeep", lacking, run };

/// The setting by which a target gives leave to change its server, as `engine.changes` of a study does.
const LEAVE: (&str, &str) = ("changes", "allowed");

/// What is said where there is no leave.
const WITHOUT_LEAVE: &str = "the server may not be changed: backup, restore and limits of memory and cores stay untested; allow them by --changes allowed";

/// Label of the backup.
const LABEL: &str = "proofload selftest upkeep";

/// Rows that are kept, by how many are inserted at once.
const ROWS: usize = 1_000;
const AT_ONCE: usize = 100;

/// Series of an observer with the memory that a server has taken.
const ALLOCATED: &str = "memory_allocated";

/// Share of the memory taken that a limit leaves, so that some of it must be given back.
const LEFT: (u64, u64) = (7, 8);

fn lacking(engine: &dyn Engine) -> Option<String> {
    let has_any = engine.backups().is_some() || engine.server_changes().is_some();
    (!has_any).then(|| "no server of the engine keeps backups by itself or is changed while it runs".to_owned())
}

fn run(bench: &Bench, steps: &mut Steps<'_>) -> Result<(), Error> {
    upkeep(bench, steps, &Words::of(bench.engine)?)
}

fn upkeep(bench: &Bench, steps: &mut Steps<'_>, words: &Words) -> Result<(), Error> {
    if bench.leave == ServerLeave::Refused {
        steps.skip(UPKEEP.name, WITHOUT_LEAVE);
        return Ok(());
    }
    runtime()?.block_on(bench.engine.create_database(&bench.target))?;
    if let Some(backups) = bench.engine.backups() {
        kept_and_restored(bench, steps, backups, words)?;
    }
    let Some(changes) = bench.engine.server_changes() else { return Ok(()) };
    memory(bench, steps, changes)?;
    cores(bench, steps, changes, words)
}

/// The server keeps rows, and puts them back after they were changed.
fn kept_and_restored(bench: &Bench, steps: &mut Steps<'_>, backups: &dyn Backups, words: &Words) -> Result<(), Error> {
    fill(bench, words)?;
    let kept = content(bench)?;
    let outcome = keep(bench, backups);
    let is_kept = outcome.is_ok();
    let hashes = vec![("rows that are kept".to_owned(), hash_text(&kept))];
    steps.end_with("upkeep: the server backs its data up", outcome, hashes);
    let name = "upkeep: a restore puts rows back that were changed";
    if !is_kept {
        steps.skip(name, "nothing was backed up");
        return Ok(());
    }
    change(bench)?;
    let changed = content(bench)?;
    let hashes = vec![("rows that were changed".to_owned(), hash_text(&changed))];
    let outcome = if changed == kept {
        Err(Error::new("rows that were changed are as before"))
    } else {
        restore(bench, backups, &kept)
    };
    steps.end_with(name, outcome, hashes);
    Ok(())
}

fn keep(bench: &Bench, backups: &dyn Backups) -> Result<(), Error> {
    let runtime = runtime()?;
    if runtime.block_on(backups.is_kept(&bench.target, LABEL))? {
        return Err(Error::new("a new database says that its data were kept before"));
    }
    runtime.block_on(backups.keep(&bench.target, LABEL, &|_, _| {}))?;
    must_be_kept(bench, backups, "after the backup")
}

fn restore(bench: &Bench, backups: &dyn Backups, kept: &[OwnedRow]) -> Result<(), Error> {
    runtime()?.block_on(backups.restore(&bench.target, LABEL, &|_, _| {}))?;
    let found = content(bench)?;
    if found != kept {
        let (found_text, kept_text) = (hash_text(&found), hash_text(kept));
        return Err(Error::new(format!(
            "{} rows with the content hash {found_text} instead of {} with {kept_text}",
            found.len(),
            kept.len()
        )));
    }
    must_be_kept(bench, backups, "after the restore")
}

fn must_be_kept(bench: &Bench, backups: &dyn Backups, when: &str) -> Result<(), Error> {
    if runtime()?.block_on(backups.is_kept(&bench.target, LABEL))? {
        return Ok(());
    }
    Err(Error::new(format!("{when} the database does not say that its data are kept")))
}

/// Makes a table with rows.
fn fill(bench: &Bench, words: &Words) -> Result<(), Error> {
    let [integer, _, _, text, _] = &words.types;
    let mut session = BlockingSession::open(bench.engine, &bench.target)?;
    session.script(&format!("CREATE TABLE upkeep (id {integer} NOT NULL PRIMARY KEY, name {text})"))?;
    let rows: Vec<String> = (1..=ROWS).map(|id| format!("({id}, 'row {id} of {ROWS}')")).collect();
    for some in rows.chunks(AT_ONCE) {
        session.script(&format!("INSERT INTO upkeep (id, name) VALUES {}", some.join(", ")))?;
    }
    Ok(())
}

/// Updates, deletes and inserts rows.
fn change(bench: &Bench) -> Result<(), Error> {
    let mut session = BlockingSession::open(bench.engine, &bench.target)?;
    for statement in [
        "UPDATE upkeep SET name = 'changed' WHERE id <= 10",
        "DELETE FROM upkeep WHERE id > 990",
        "INSERT INTO upkeep (id, name) VALUES (5000, 'new')",
    ] {
        session.script(statement)?;
    }
    Ok(())
}

/// All rows. The session is closed before anything is restored.
fn content(bench: &Bench) -> Result<Vec<OwnedRow>, Error> {
    let mut session = BlockingSession::open(bench.engine, &bench.target)?;
    Ok(session.query("SELECT id, name FROM upkeep ORDER BY id")?)
}

/// A hash of rows, over their text.
fn hash_text(rows: &[OwnedRow]) -> String {
    format!("{:016x}", suite::hash(&format!("{rows:?}")))
}

/// A limit of memory comes into force and is lifted again.
fn memory(bench: &Bench, steps: &mut Steps<'_>, changes: &dyn ServerChanges) -> Result<(), Error> {
    let what = "a limit of memory";
    let Some(memory) = bench.engine.memory().filter(|memory| memory.reaches_existing_servers()) else {
        steps.skip(&format!("upkeep: {what}"), "a server of the engine that runs takes none");
        return Ok(());
    };
    let limit = memory_limit(bench)?;
    let asked = memory.settings(limit, 1);
    let before = in_force(bench, &asked)?;
    let is_lower = |((_, asked), (_, now)): (&(String, String), &(String, String))| {
        asked.parse::<u64>().ok().zip(now.parse::<u64>().ok()).is_none_or(|(asked, now)| asked < now)
    };
    if !asked.iter().zip(&before).all(is_lower) {
        let why = format!("the server has {} already, which is not above {limit}", settings_text(&before));
        steps.skip(&format!("upkeep: {what}"), why);
        return Ok(());
    }
    set_and_put_back(bench, steps, changes, what, &asked);
    Ok(())
}

/// A limit that a server of its size works under: a part of what it has taken, and at least what the engine needs.
fn memory_limit(bench: &Bench) -> Result<Bytes, Error> {
    let least = bench.engine.about().minimum_memory_bytes;
    let Some(mut observer) = bench.engine.observer(&bench.target)? else { return Ok(Bytes(least)) };
    let allocated = observer.observe()?.into_iter().filter(|one| one.reading.name == ALLOCATED);
    let taken = allocated.map(|one| one.reading.value as u64).sum::<u64>();
    Ok(Bytes((taken / LEFT.1 * LEFT.0).max(least)))
}

/// One core less works for a moment.
fn cores(bench: &Bench, steps: &mut Steps<'_>, changes: &dyn ServerChanges, words: &Words) -> Result<(), Error> {
    let what = "a limit of cores";
    let name = format!("upkeep: {what}");
    let Some(setting) = &words.cores else {
        steps.skip(&name, "a server of the engine that runs takes none");
        return Ok(());
    };
    let asked = |count: u64| vec![(setting.clone(), count.to_string())];
    // What is asked is read back with the value in force, whatever that is.
    let now = in_force(bench, &asked(1))?;
    let count = now.first().and_then(|(_, value)| value.parse::<u64>().ok());
    match count {
        Some(count) if count > 1 => set_and_put_back(bench, steps, changes, what, &asked(count - 1)),
        Some(_) => steps.skip(&name, "one core of the server works: there is none to take away"),
        None => steps.end(&name, Err(Error::new(format!("the server says no number: {}", settings_text(&now))))),
    }
    Ok(())
}

/// Asks for settings with leave, reads them back, puts them back whatever came of it, and reads that back.
fn set_and_put_back(
    bench: &Bench,
    steps: &mut Steps<'_>,
    changes: &dyn ServerChanges,
    what: &str,
    asked: &[(String, String)],
) {
    let before = in_force(bench, asked);
    let set = before.as_ref().map(|_| ()).map_err(Error::clone).and_then(|()| set(bench, asked));
    steps.end(&format!("upkeep: {what} is in force as asked"), set);
    let back = before.and_then(|before| put_back(bench, changes, &before));
    steps.end(&format!("upkeep: {what} is put back"), back);
}

fn set(bench: &Bench, asked: &[(String, String)]) -> Result<(), Error> {
    let known = facts(bench, &[], ServerLeave::Refused)?;
    let facts = facts(bench, asked, ServerLeave::Allowed)?;
    must_hold(&facts)?;
    // What is only told of a server under a limit says whether it keeps to it.
    let is_unread = |fact: &&Fact| fact.effective.is_none() && !known.iter().any(|other| other.name == fact.name);
    if let Some(fact) = facts.iter().find(is_unread) {
        return Err(Error::new(format!("{} could not be read: {}", fact.name, fact.source)));
    }
    let is_in_force = |name: &str| facts.iter().any(|fact| fact.name == name && fact.holds == Some(true));
    match asked.iter().find(|(name, _)| !is_in_force(name)) {
        Some((name, value)) => Err(Error::new(format!("{name} = {value} was asked for and is not read back"))),
        None => Ok(()),
    }
}

fn put_back(bench: &Bench, changes: &dyn ServerChanges, before: &[(String, String)]) -> Result<(), Error> {
    runtime()?.block_on(changes.put_back(&with_leave(&bench.target)))?;
    let now = in_force(bench, before)?;
    if now != before {
        let (now, before) = (settings_text(&now), settings_text(before));
        return Err(Error::new(format!("the server has {now} instead of {before}; set it by hand")));
    }
    must_hold(&facts(bench, &[], ServerLeave::Refused)?)
}

/// Fails where a fact says that what was asked is not in force.
fn must_hold(facts: &[Fact]) -> Result<(), Error> {
    let Some(fact) = facts.iter().find(|fact| fact.holds == Some(false)) else { return Ok(()) };
    let word = |value: &Option<String>| value.clone().unwrap_or_else(|| "nothing".to_owned());
    let (asked, found) = (word(&fact.requested), word(&fact.effective));
    Err(Error::new(format!("{} is {found} instead of {asked} ({})", fact.name, fact.source)))
}

/// Values in force of these settings, which are not changed.
fn in_force(bench: &Bench, asked: &[(String, String)]) -> Result<Vec<(String, String)>, Error> {
    let facts = facts(bench, asked, ServerLeave::Refused)?;
    let value = |(name, _): &(String, String)| {
        let found = facts.iter().find(|fact| fact.name == *name).and_then(|fact| fact.effective.clone());
        let lacking = || Error::new(format!("the server does not tell its setting {name}"));
        found.map(|value| (name.clone(), value)).ok_or_else(lacking)
    };
    asked.iter().map(value).collect()
}

fn facts(bench: &Bench, asked: &[(String, String)], leave: ServerLeave) -> Result<Vec<Fact>, Error> {
    let mut target = bench.target.clone();
    target.place.settings.extend(asked.iter().cloned());
    if leave == ServerLeave::Allowed {
        target = with_leave(&target);
    }
    Ok(runtime()?.block_on(bench.engine.verify_settings(&target))?)
}

/// The same target, whose server may be changed.
pub(super) fn with_leave(target: &Target) -> Target {
    let mut target = target.clone();
    target.place.settings.push((LEAVE.0.to_owned(), LEAVE.1.to_owned()));
    target
}

fn settings_text(settings: &[(String, String)]) -> String {
    settings.iter().map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests;
