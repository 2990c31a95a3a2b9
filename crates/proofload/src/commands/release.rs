//! `release`: puts back what a run that was killed has left changed of a server that Proofload did not start.

use super::server_named::host_and_database;
use crate::cli_release::ReleaseArguments;
use crate::exit::Exit;
use crate::output;
use proofload_engine::{Engine, ServerChanges, Target, engine};
use proofload_model::error::Error;
use proofload_model::study::holds_password;
use proofload_model::wire::DataLocation;

/// Puts settings of a server back.
pub(crate) fn run(arguments: &ReleaseArguments) -> Exit {
    match released(arguments) {
        Ok(text) => output::conclude_acted(false, &text, Exit::Good),
        Err((exit, text)) => output::failure(false, exit, &text),
    }
}

fn released(arguments: &ReleaseArguments) -> Result<String, (Exit, String)> {
    let usage = |text: String| (Exit::Usage, text);
    let name = &arguments.engine;
    let of_name = engine(name).ok_or_else(|| usage(format!("there is no engine {name:?}; see proofload engines")))?;
    let changes = of_name
        .server_changes()
        .ok_or_else(|| usage(format!("studies do not change servers of {name}: there is nothing to put back")))?;
    if holds_password(&arguments.url) {
        // Not repeated, as it has a secret.
        let remedy = of_name.facts().password.unwrap_or("use the engine's own mechanism");
        return Err(usage(format!(
            "the URL contains a password, which other users see in the list of processes; remove it and {remedy} or this command"
        )));
    }
    let server = host_and_database(&arguments.url);
    if arguments.yes.as_deref() != Some(server.as_str()) {
        return Err(usage(format!(
            "this puts settings of the whole server {server} back, also under a study that runs there; to confirm, add --yes {server}"
        )));
    }
    let place = DataLocation::at_url(name, arguments.url.as_str());
    put_back(of_name, changes, &Target::of(of_name, place, Vec::new()))
        .map_err(|error| (Exit::Failure, error.to_string()))
}

/// Puts back what is noted in the study's database, and says what that was.
fn put_back(engine: &dyn Engine, changes: &dyn ServerChanges, target: &Target) -> Result<String, Error> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Error::new(format!("make a runtime: {error}")))?;
    let mut told = String::new();
    // Nothing is asked for: what does not hold is what somebody has left.
    for fact in runtime.block_on(engine.verify_settings(target))?.iter().filter(|fact| fact.holds == Some(false)) {
        let word = |value: &Option<String>| value.clone().unwrap_or_else(|| "nothing".to_owned());
        told.push_str(&format!("{}: {}, was {}\n", fact.name, word(&fact.requested), word(&fact.effective)));
    }
    let mut allowed = target.clone();
    allowed.place.settings.push(("changes".to_owned(), "allowed".to_owned()));
    runtime.block_on(changes.put_back(&allowed))?;
    if told.is_empty() {
        told.push_str("nothing was left changed\n");
    }
    Ok(told)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(engine: &str, yes: Option<&str>) -> String {
        refusal_of("sqlserver://bench@127.0.0.1:1/shop?encrypt=none", engine, yes)
    }

    fn refusal_of(url: &str, engine: &str, yes: Option<&str>) -> String {
        let (engine, url, yes) = (engine.to_owned(), url.to_owned(), yes.map(str::to_owned));
        let arguments = ReleaseArguments { engine, url, yes };
        match released(&arguments) {
            Err((Exit::Usage, text)) => text,
            Err((_, text)) => format!("tried: {text}"),
            Ok(text) => panic!("nobody listens there: {text}"),
        }
    }

    #[test]
    fn a_server_is_named_twice_before_it_is_asked_anything() {
        assert!(refusal("nothing", None).contains("no engine \"nothing\""));
        assert!(refusal("sqlite", None).contains("nothing to put back"));
        assert!(refusal("sqlserver", None).ends_with("add --yes 127.0.0.1:1/shop"));
        assert!(refusal("sqlserver", Some("shop")).ends_with("add --yes 127.0.0.1:1/shop"));
        assert!(refusal("sqlserver", Some("127.0.0.1:1/shop")).starts_with("tried: "));
    }

    #[test]
    fn a_password_is_refused_and_not_repeated() {
        for url in ["sqlserver://bench:s3cret/x@127.0.0.1:1/shop", "sqlserver://bench@127.0.0.1:1/shop?pwd=s3cret/x"] {
            let told = refusal_of(url, "sqlserver", None);
            assert!(told.starts_with("the URL contains a password") && !told.contains("s3cret"), "{told}");
        }
    }
}
