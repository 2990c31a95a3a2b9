//! The three answers: from flags, else from somebody at a terminal, else the first of each. Refuses what does not go together.

use super::choice::{
    Choice, DatabasePlace, SETTING, VARIED, Vary, WORKLOADS, WorkloadRow, engine_of_url, may_vary, row,
};
use super::questions::{Offer, Questioner};
use crate::cli_first::InitArguments;
use proofload_model::study::holds_password;

/// The word by which an existing server is chosen.
const SERVER: &str = "url";

/// Answers and, where nobody was asked, the flags that would have given what was taken.
pub(super) struct Answers {
    pub(super) choice: Choice,
    pub(super) taken: Vec<String>,
}

/// Finds them; the error is one of usage.
pub(super) fn answers(arguments: &InitArguments, mut who: Option<&mut Questioner<'_>>) -> Result<Answers, String> {
    let mut taken = Vec::new();
    // A wrong flag is refused before anything is asked.
    let given = arguments.vary.as_deref().map(Vary::parse).transpose()?;
    let workload = match (arguments.workload, who.as_deref_mut()) {
        (Some(workload), _) => workload,
        (None, Some(who)) => ask_workload(who)?,
        (None, None) => {
            taken.push(format!("--workload {}", WORKLOADS[0].word));
            WORKLOADS[0].workload
        }
    };
    let row = row(workload);
    let place = match (given_place(arguments, row)?, who.as_deref_mut()) {
        (Some(place), _) => place,
        (None, Some(who)) => ask_place(who, row)?,
        (None, None) => {
            taken.push(format!("--engine {}", row.engines[0]));
            DatabasePlace::Engine(row.engines[0].to_owned())
        }
    };
    let may = may_vary(row, place.is_server());
    let vary = match (given, who) {
        (Some(vary), _) => vary,
        (None, Some(who)) => ask_vary(who, &may)?,
        (None, None) => {
            taken.push(format!("--vary {}", may[0]));
            Vary::parse(may[0])?
        }
    };
    expect_varied(row, &place, &vary, &may)?;
    Ok(Answers { choice: Choice { workload, place, vary }, taken })
}

/// The place that the flags name.
fn given_place(arguments: &InitArguments, row: &WorkloadRow) -> Result<Option<DatabasePlace>, String> {
    match (&arguments.url, &arguments.engine) {
        (Some(url), engine) => server(url, engine.as_deref(), row).map(Some),
        (None, Some(engine)) if row.engines.contains(&engine.as_str()) => {
            Ok(Some(DatabasePlace::Engine(engine.clone())))
        }
        (None, Some(engine)) => Err(format!(
            "--engine {engine}: the workload {} runs on {}; or use an existing server with --url",
            row.word,
            row.engines.join(", ")
        )),
        (None, None) => Ok(None),
    }
}

/// An existing server by its URL, which is never repeated in an error: it may hold a password.
fn server(url: &str, engine: Option<&str>, row: &WorkloadRow) -> Result<DatabasePlace, String> {
    if holds_password(url) {
        let remedy = engine.or_else(|| engine_of_url(url)).and_then(proofload_engine::engine);
        let remedy = remedy.and_then(|engine| engine.facts().password).unwrap_or("use the engine's own mechanism");
        return Err(format!(
            "the URL contains a password, which would be stored in the record; remove it and {remedy}"
        ));
    }
    let named = engine
        .or_else(|| engine_of_url(url))
        .ok_or("the URL does not start with a known scheme such as postgresql:// or mongodb://; add --engine")?;
    if row.servers.is_empty() {
        return Err(format!(
            "--url: the workload {} needs an engine on this machine: {}",
            row.word,
            row.engines.join(", ")
        ));
    }
    if !row.servers.contains(&named) {
        return Err(format!(
            "--url: the workload {} supports existing servers of {}, not {named}",
            row.word,
            row.servers.join(", ")
        ));
    }
    Ok(DatabasePlace::Server { engine: named.to_owned(), url: url.to_owned() })
}

fn expect_varied(row: &WorkloadRow, place: &DatabasePlace, vary: &Vary, may: &[&str]) -> Result<(), String> {
    if may.contains(&vary.word()) {
        return Ok(());
    }
    let why = if place.is_server() && row.vary.contains(&vary.word()) {
        "the memory of an existing server cannot be set".to_owned()
    } else {
        format!("the workload {} has no such factor", row.word)
    };
    let words = may.iter().map(|word| if *word == SETTING { "SETTING=[LEVEL, …]" } else { *word });
    Err(format!("--vary {}: {why}; use {}", vary.word(), words.collect::<Vec<_>>().join(", ")))
}

fn ask_workload(who: &mut Questioner<'_>) -> Result<crate::cli_first::InitWorkload, String> {
    let offers: Vec<Offer<'_>> = WORKLOADS.iter().map(|row| (row.word, row.about.to_owned())).collect();
    Ok(WORKLOADS[who.choose("What do you want to measure?", &offers)?].workload)
}

fn ask_place(who: &mut Questioner<'_>, row: &WorkloadRow) -> Result<DatabasePlace, String> {
    let engine = |name: &&'static str| {
        let about = proofload_engine::engine(name).map_or_else(String::new, |engine| {
            let missing = if engine.locate().is_ok() { "" } else { "; not found here" };
            let how =
                if engine.facts().capabilities.embedded { "embedded, starts nothing" } else { "started by Proofload" };
            format!("{how}{missing}")
        });
        (*name, about)
    };
    let mut offers: Vec<Offer<'_>> = row.engines.iter().map(engine).collect();
    if !row.servers.is_empty() {
        offers.push((SERVER, format!("an existing server ({})", row.servers.join(", "))));
    }
    let index = who.choose("Where is the database?", &offers)?;
    match row.engines.get(index) {
        Some(engine) => Ok(DatabasePlace::Engine((*engine).to_owned())),
        None => who.ask("URL without a password, such as postgresql://bench@db1/bench", |url| server(url, None, row)),
    }
}

fn ask_vary(who: &mut Questioner<'_>, may: &[&'static str]) -> Result<Vary, String> {
    let about = |word: &&'static str| {
        let found = VARIED.iter().find(|(known, _)| known == word);
        (*word, found.map_or_else(String::new, |(_, about)| (*about).to_owned()))
    };
    let offers: Vec<Offer<'_>> = may.iter().map(about).collect();
    match may[who.choose("What should vary?", &offers)?] {
        SETTING => who
            .ask("a setting and its levels, such as engine.settings.synchronous_commit=[\"on\", \"off\"]", Vary::parse),
        word => Vary::parse(word),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli_first::InitWorkload;

    fn arguments(line: &[&str]) -> InitArguments {
        use clap::Parser as _;
        match crate::cli::Arguments::try_parse_from([&["proofload", "init"], line].concat()).unwrap().command {
            crate::cli::Command::Init(arguments) => arguments,
            other => panic!("{other:?}"),
        }
    }

    fn asked(line: &[&str], typed: &str) -> Result<Choice, String> {
        let mut show = |_: &str| {};
        let mut who = Questioner { input: &mut typed.as_bytes(), show: &mut show };
        answers(&arguments(line), Some(&mut who)).map(|answers| answers.choice)
    }

    #[test]
    fn three_answers_make_a_choice_and_flags_are_not_asked_for() {
        let choice = asked(&[], "warehouse\n2\nusers\n").unwrap();
        assert_eq!(choice.workload, InitWorkload::Warehouse);
        assert_eq!((choice.place, choice.vary), (DatabasePlace::Engine("postgresql".to_owned()), Vary::Users));
        let choice = asked(&["--workload", "oltp"], "url\noracle://db1\npostgresql://me@db1/x\n1\n").unwrap();
        let place = DatabasePlace::Server { engine: "postgresql".to_owned(), url: "postgresql://me@db1/x".to_owned() };
        assert_eq!((choice.place, choice.vary), (place, Vary::Users), "an existing server has no memory to vary");
        let choice = asked(&["--workload", "oltp", "--engine", "sqlite"], "setting\nwrong\na.b=[1]\n").unwrap();
        assert_eq!(choice.vary.label(), "b");
        assert!(asked(&[], "oltp\n").unwrap_err().contains("input ended"));
    }

    #[test]
    fn where_nobody_is_asked_the_first_is_taken_and_told() {
        let found = answers(&arguments(&["--workload", "cache-tier"]), None).unwrap();
        assert_eq!(found.taken, ["--engine sqlite", "--vary cache"]);
        let url = ["--workload", "oltp", "--url", "postgresql://db1/x"];
        assert_eq!(answers(&arguments(&url), None).unwrap().taken, ["--vary users"]);
    }

    #[test]
    fn what_does_not_go_together_is_refused_with_what_does() {
        let check = |line: &[&str], expected: &str| {
            let text = answers(&arguments(line), None).map(|_| ()).unwrap_err();
            assert!(text.contains(expected), "{line:?}: {text}");
            assert!(!text.contains("s3cret"), "{text}");
        };
        check(
            &["--workload", "oltp", "--engine", "mongodb"],
            "runs on sqlite, postgresql, mariadb, mysql; or use an existing server",
        );
        check(&["--workload", "cache-tier", "--url", "postgresql://db1/x"], "needs an engine on this machine");
        check(&["--workload", "oltp", "--url", "mongodb://u:s3cret@db1/x"], "the URL contains a password");
        check(
            &["--workload", "oltp", "--url", "mongodb://db1/x"],
            "existing servers of postgresql, mariadb, mysql, sqlserver, not mongodb",
        );
        check(&["--workload", "oltp", "--url", "db1/x"], "known scheme");
        check(
            &["--url", "postgresql://db1/x", "--vary", "memory"],
            "the memory of an existing server cannot be set; use users, SETTING=[LEVEL, …], nothing",
        );
        check(&["--engine", "sqlite", "--vary", "cache"], "has no such factor; use memory, users");
    }
}
