//! Studies that are refused because they would harm, leak or never end.

use super::{GOOD, catalogue};
use proofload_model::plan::expand;
use proofload_model::study::{parse_assignment, validate};

/// The faults of a changed study, one text each.
fn refusal(text: &str, set: &[&str]) -> Vec<String> {
    let overrides: Vec<_> = set.iter().map(|text| parse_assignment(text).expect("an assignment")).collect();
    let faults = validate(text, &overrides, &catalogue()).err().unwrap_or_default();
    faults.iter().map(ToString::to_string).collect()
}

#[test]
fn data_lie_in_a_folder_of_their_own() {
    for (path, told) in [
        ("", "names no folder"),
        ("/", "is the root of the file system; name a folder below it"),
        ("/etc/data", "lies in /etc, which belongs to the system"),
    ] {
        let faults = refusal(GOOD, &[&format!("storage.path={path}")]);
        assert_eq!(faults, [format!("storage.path: {told}")], "{path:?}");
    }
    assert_eq!(refusal(GOOD, &["storage.path=/srv/data"]), [""; 0]);
}

#[test]
fn a_study_of_too_many_runs_is_refused_without_making_them() {
    let levels: Vec<String> = (64..1_064).map(|size| format!("\"{size}MiB\"")).collect();
    let memory = format!("factor.limits.memory=[{}]", levels.join(","));
    let cores =
        format!("factor.limits.cpu=[{}]", (1..=1_000).map(|cpu| format!("{cpu}.0")).collect::<Vec<_>>().join(","));
    let faults = refusal(GOOD, &[&memory, &cores]);
    assert!(faults.iter().any(|fault| fault.contains("runs, more than 100000; leave some levels out")), "{faults:?}");
}

#[test]
fn a_password_is_found_however_it_is_written() {
    for url in ["x:///d?user=u&pass%77ord=secret", "x:///d?Password=secret"] {
        let faults = refusal(GOOD, &["engine.kind=restorer", &format!("engine.url={url}")]);
        assert!(faults.iter().any(|fault| fault.starts_with("engine.url: contains a password")), "{faults:?}");
    }
}

#[test]
fn only_a_limit_is_left_out_by_none() {
    let points = |change: &str| {
        let study =
            validate(GOOD, &[parse_assignment(change).expect("an assignment")], &catalogue()).expect("it is valid");
        (study.settings.get("limits.memory").is_some(), expand(&study).points.len())
    };
    assert_eq!(points("limits.memory=none"), (false, 1), "neither a limit nor a factor any more");
    let faults = refusal(GOOD, &["workload.warehouses=none"]);
    assert!(faults.len() == 1 && faults[0].contains("is not a whole number"), "{faults:?}");
}
