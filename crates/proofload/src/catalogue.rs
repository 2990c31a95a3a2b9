//! Joins the registries of engines and workloads into the catalogue that studies are checked against.

use proofload_model::catalogue::Catalogue;

/// All that is built in.
pub(crate) fn catalogue() -> Catalogue {
    Catalogue {
        engines: proofload_engine::ENGINES.iter().map(|engine| engine.facts()).collect(),
        workloads: proofload_load::WORKLOADS.iter().map(|workload| workload.facts()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofload_model::study::{faults_text, parse_assignment, validate};

    /// Faults of a small key-value study with these changes.
    fn faults(changes: &[&str]) -> String {
        let text = "[study]\nname = \"s\"\ntitle = \"t\"\n[workload]\nkind = \"ycsb\"\nrecords = 100\nvirtual_users = 1\n\
                    [engine]\nkind = \"sqlite\"\n";
        let changes: Vec<_> = changes.iter().map(|change| parse_assignment(change).expect("an assignment")).collect();
        faults_text(&validate(text, &changes, &catalogue()).err().unwrap_or_default())
    }

    #[test]
    fn what_an_engine_or_a_workload_refuses_in_a_run_is_refused_before_it() {
        assert_eq!(faults(&["engine.settings.journal_mode=delete"]), "");
        let found = faults(&["engine.settings.journal_mode=wall"]);
        assert!(found.starts_with("engine.settings.journal_mode: ") && found.contains("must be DELETE"), "{found}");
        let found = faults(&["workload.mix=own", "workload.read=0.5", "workload.update=0.9"]);
        assert!(found.starts_with("workload.mix: the sum of the shares of operations is 1.4"), "{found}");
        let found = faults(&["engine.kind=postgresql", "engine.settings.port=1"]);
        assert!(found.contains("is reserved"), "{found}");
        let found = faults(&["workload.kind=oltp"]);
        assert!(found.contains("did you mean tprocc?"), "{found}");
    }
}
