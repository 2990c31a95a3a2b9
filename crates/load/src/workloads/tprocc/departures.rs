//! Profile and departures of a study: its settings, contradictions among them, and the facts for a report. The
//! departures themselves are made in the generator, in the suites and in the transactions.

use proofload_gen::tprocc::{Departure, Departures, Profile};
use proofload_model::catalogue::Contradiction;
use proofload_model::error::Error;
use proofload_model::facts::{Description, client};
use proofload_model::samples::Fact;
use proofload_model::setting_words::LoadPacing;
use proofload_model::settings::{Settings, setting};

/// The word for a level without any.
const NONE: &str = "none";

/// The setting.
const PATH: &str = setting::WORKLOAD_DEPARTURES;

/// The profile of a study: that of its name, or the clauses with single departures.
pub(super) fn profile(settings: &Settings) -> Result<Profile, Error> {
    let named =
        Profile::from_name(settings.text(setting::WORKLOAD_PROFILE)?).map_err(|error| Error::new(error.to_string()))?;
    let given = given(settings).map_err(|text| Error::new(format!("{PATH}: {text}")))?;
    Ok(if given.is_empty() { named } else { Profile { departures: given } })
}

/// The departures that are named one by one.
fn given(settings: &Settings) -> Result<Departures, String> {
    let words = settings.list(PATH).iter().filter(|word| *word != NONE);
    words.map(|word| Departure::from_word(word).map_err(|error| error.to_string())).collect()
}

/// Contradictions between profile and departures.
pub(super) fn contradictions(settings: &Settings) -> Vec<Contradiction> {
    let is_named = settings.text(setting::WORKLOAD_PROFILE).is_ok_and(|name| name != Profile::SPEC.name());
    let is_paced = LoadPacing::is_paced(settings);
    let mut found = Vec::new();
    match given(settings) {
        Err(text) => found.push(Contradiction::new(PATH, text)),
        Ok(given) if is_named && !given.is_empty() => found.push(Contradiction::new(
            PATH,
            "this profile already has its departures; remove them, or set workload.profile = \"spec\"",
        )),
        Ok(_) => {}
    }
    if is_named && is_paced {
        let reason =
            "HammerDB's behaviour under keying and think times is not reproduced; use workload.pacing = \"saturated\"";
        found.push(Contradiction::new(setting::WORKLOAD_PROFILE, reason));
    }
    found
}

/// The profile and each of its departures, for the record.
pub(super) fn facts(profile: &Profile) -> Vec<Fact> {
    let source = "profile of the run";
    let mut facts = vec![client::PROFILE.observed(profile.name(), source)];
    facts.extend(profile.departures.iter().map(|departure| {
        let name = client::DEPARTURE.of(&format!("{:02}", departure.number()));
        name.observed(Description::new(departure.name(), departure.about()), source)
    }));
    facts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workloads::tprocc::tests::case::toy;

    #[track_caller]
    fn check(changes: &[(&str, &str)], expected: Result<&str, &str>) {
        let settings = toy(changes);
        let contradictions: Vec<String> = contradictions(&settings).into_iter().map(|fault| fault.reason).collect();
        match expected {
            Ok(name) => assert_eq!((profile(&settings).unwrap().name().as_str(), contradictions.len()), (name, 0)),
            Err(text) => assert!(contradictions.join("; ").contains(text), "{contradictions:?}"),
        }
    }

    #[test]
    fn profiles_and_departures_of_a_study() {
        check(&[], Ok("spec"));
        check(&[("departures", "none")], Ok("spec"));
        check(&[("departures", "4")], Ok("spec with departures 4"));
        check(&[("departures", "[\"unused-item-kept\", \"1\"]")], Ok("spec with departures 1, 6"));
        check(&[("profile", "hammerdb-compatible")], Ok("hammerdb-compatible"));
        check(&[("departures", "7")], Err("unknown departure \"7\"; known: uniform-ids, "));
        check(
            &[("profile", "hammerdb-compatible"), ("departures", "4")],
            Err("this profile already has its departures"),
        );
        check(&[("profile", "hammerdb-compatible"), ("pacing", "paced")], Err("is not reproduced"));
    }

    #[test]
    fn a_departure_is_a_fact_of_the_run() {
        let facts = facts(&profile(&toy(&[("departures", "c-123")])).unwrap());
        let told: Vec<_> = facts.iter().map(|fact| (fact.name.as_str(), fact.effective.as_deref().unwrap())).collect();
        assert_eq!(told[0], ("profile", "spec with departures 2"));
        assert!(told[1].0 == "departure.02" && told[1].1.starts_with("c-123: C is 123 for every field"), "{told:?}");
    }
}
