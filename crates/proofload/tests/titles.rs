//! Titles of settings in reports belong to settings that there are.

use proofload_model::settings::STANDARD;

#[test]
fn every_title_belongs_to_a_setting() {
    for words in proofload_report::workloads::WORKLOADS {
        let workload = proofload_load::WORKLOADS.iter().find(|workload| workload.facts().name == words.kind);
        let own = workload.unwrap_or_else(|| panic!("{} is no workload", words.kind)).facts().settings;
        for (path, title) in words.settings {
            assert!(own.iter().any(|spec| spec.path == *path), "{title:?} is of {path}, no setting of {}", words.kind);
            assert!(STANDARD.iter().all(|spec| spec.path != *path || spec.title.is_none()), "{path} has two titles");
        }
    }
}
