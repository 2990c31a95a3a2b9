//! All tests of the report as one program: each file is built and linked with the support once.

mod accessibility;
mod answers;
mod attribution;
mod beside;
mod cache_forecast;
mod cache_tier;
mod comparison;
mod cpu_limit;
mod disturbance;
mod drill_export;
mod drill_losses;
mod drill_words;
mod drills;
mod engine_note;
mod experiment_limits;
mod experiment_raises;
mod experiment_visits;
mod experiment_words;
mod experiments;
mod findings;
mod formats;
mod groups;
mod hidden_others;
mod isolation;
mod pacing;
mod page;
mod power;
mod reach;
mod records;
mod repetitions;
mod replication;
mod search;
mod support;
mod typst;
mod warehouse;
mod ycsb;

/// A file that no line above names would be no test.
#[test]
fn every_file_of_this_folder_is_in_the_program() {
    let here = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let this = include_str!("main.rs");
    for entry in std::fs::read_dir(&here).unwrap().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        let Some(module) = name.strip_suffix(".rs").filter(|module| *module != "main") else { continue };
        assert!(this.lines().any(|line| line == format!("mod {module};")), "tests/{name}");
    }
}
