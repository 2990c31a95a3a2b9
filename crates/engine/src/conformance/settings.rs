//! Settings are read back, what is ours stays, what is somebody's is refused, and a server tells of itself.

use super::bench::{Bench, count};
use super::checks::CheckResult;
use super::expect::{equal, holds, refused, some};
use crate::contract::{Error, Session as _};

pub(super) async fn settings(bench: &Bench<'_>) -> Result<CheckResult, Error> {
    if !bench.target.is_ours() {
        return Ok(CheckResult::Skipped("the settings of a server that Proofload did not start are not changed"));
    }
    let asked = &bench.words;
    let facts = bench.engine.verify_settings(bench.target).await?;
    for (name, value) in &asked.settings {
        let fact = some(&format!("the setting {name}"), facts.iter().find(|fact| fact.name == *name))?;
        equal(name, (fact.requested.as_deref(), fact.holds), (Some(value.as_str()), Some(true)))?;
        holds(fact.effective.is_some(), || format!("{name} has no value in force"))?;
    }
    let (name, value) = asked.not_in_force.clone();
    let mut other = bench.target.clone();
    other.place.settings.push((name.clone(), value));
    let facts = bench.engine.verify_settings(&other).await?;
    let fact = some(&format!("the setting {name}"), facts.iter().find(|fact| fact.name == name))?;
    equal(&format!("whether {name} holds"), fact.holds, Some(false))?;
    other.place.settings.push(("no_such; setting".to_owned(), "1".to_owned()));
    let answer = bench.engine.verify_settings(&other).await;
    let refused = answer.is_err()
        || answer
            .is_ok_and(|facts| facts.iter().any(|fact| fact.name.contains("no_such") && fact.holds == Some(false)));
    holds(refused, || "an unknown setting passes".to_owned())?;
    Ok(CheckResult::Kept)
}

pub(super) async fn reopening(bench: &Bench<'_>) -> Result<CheckResult, Error> {
    let before = count(&mut bench.prepared().await?).await?;
    bench.engine.after_build(bench.target).await?;
    bench.engine.create_database(bench.target).await?;
    holds(before > 0, || "no row was kept".to_owned())?;
    equal("rows after the database was opened again", count(&mut bench.prepared().await?).await?, before)?;
    Ok(CheckResult::Kept)
}

pub(super) async fn foreign_database(bench: &Bench<'_>) -> Result<CheckResult, Error> {
    if !bench.target.is_ours() {
        return Ok(CheckResult::Skipped("it would make a second database on a server that Proofload did not start"));
    }
    let mut other = bench.target.clone();
    let given = |key: &str| some(&format!("foreign.{key} of conformance.toml"), bench.words.foreign(key));
    if let Some(file) = bench.words.foreign("file") {
        let folder = std::path::Path::new(&bench.target.place.folder).join("foreign");
        let path = folder.join(file);
        path.parent()
            .map_or(Ok(()), std::fs::create_dir_all)
            .and_then(|()| std::fs::write(&path, "somebody's notes, not a database"))
            .map_err(|error| Error::other(format!("write {}: {error}", path.display())))?;
        other.place.folder = folder.display().to_string();
    } else {
        let mut session = bench.connect().await?;
        session.script(given("create_database")?).await?;
        let (ours, theirs) = (given("ours")?, given("theirs")?);
        other.endpoints = other.address().map(|address| address.replace(ours, theirs)).into();
        let mut session = bench.engine.connect(&other).await?;
        session.script(given("create_schema")?).await?;
    }
    let error = refused("a database that is not ours", bench.engine.create_database(&other).await)?;
    holds(!error.is_retryable(), || format!("a database that is not ours is to be tried again: {error}"))?;
    Ok(CheckResult::Kept)
}

pub(super) async fn observer(bench: &Bench<'_>) -> Result<CheckResult, Error> {
    let (target, engine) = (bench.target.clone(), bench.engine);
    let seen = std::thread::spawn(move || engine.observer(&target)?.map(|mut observer| observer.observe()).transpose());
    let seen = seen.join().map_err(|_| Error::other("the observer panicked"))??;
    equal("whether there is nothing to observe", seen.is_none(), engine.facts().capabilities.embedded)?;
    let Some(observations) = seen else {
        return Ok(CheckResult::Skipped("the engine runs in the load agent: there is no server to observe"));
    };
    let has = |name: &String| observations.iter().any(|observation| observation.reading.name == *name);
    let missing: Vec<&String> = bench.words.counters.iter().filter(|name| !has(name)).collect();
    holds(missing.is_empty(), || format!("the observer does not read {missing:?} of this server"))?;
    let commits = observations.iter().find(|observation| observation.reading.name == "commits");
    let commits = some("the counter of commits", commits)?;
    let fits = commits.cumulative && commits.reading.value > 0.0 && commits.reading.unit == "1/s";
    holds(fits, || format!("commits are no total above 0: {commits:?}"))?;
    Ok(CheckResult::Kept)
}
