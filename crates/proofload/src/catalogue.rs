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
    fn shares_of_operations_beside_a_mix_that_has_its_own_are_refused() {
        let told = "belongs to workload.mix = \"own\"; remove it or set workload.mix = \"own\"";
        assert_eq!(faults(&["workload.read=0.5"]), format!("workload.read: {told}\n"));
        let both = faults(&["workload.mix=c", "workload.scan=0", "workload.insert=0.1", "workload.fields=0"]);
        for path in ["workload.scan", "workload.insert"] {
            assert!(both.contains(&format!("{path}: {told}\n")), "{both}");
        }
        assert!(both.contains("workload.fields: "), "told with all other faults: {both}");
        let shares = ["workload.read=0.5", "workload.update=0.5"];
        let with = |mix: &str| faults(&[&[mix][..], &shares[..]].concat());
        assert_eq!(with("workload.mix=own"), "");
        assert_eq!(with("factor.workload.mix=[\"a\", \"own\"]"), "", "another point uses them");
        assert_eq!(with("factor.workload.mix=[\"a\", \"b\"]").lines().count(), 2);
    }

    /// `--set workload.mix=b` is no reason to take the shares out of the file first.
    #[test]
    fn another_mix_takes_the_place_of_the_shares_in_the_file() {
        let text = "[study]\nname = \"s\"\ntitle = \"t\"\n[workload]\nkind = \"ycsb\"\nrecords = 100\nvirtual_users = 1\n\
                    mix = \"own\"\nread = 0.5\nupdate = 0.5\n[engine]\nkind = \"sqlite\"\n";
        let with = |changes: &[&str]| {
            let changes: Vec<_> =
                changes.iter().map(|change| parse_assignment(change).expect("an assignment")).collect();
            validate(text, &changes, &catalogue()).map_err(|faults| faults_text(&faults))
        };
        let study = with(&["workload.mix=b"]).expect("the shares are left out");
        assert_eq!(study.settings.number("workload.read"), Ok(0.0));
        assert!(with(&["workload.read=0.1", "workload.mix=b"]).is_err_and(|told| told.starts_with("workload.read: ")));
        let kept = with(&["workload.mix=own", "workload.read=0.25", "workload.update=0.75"]);
        assert_eq!(kept.map(|study| study.settings.number("workload.update")), Ok(Ok(0.75)));
        let study = with(&["factor.workload.mix=[\"a\", \"b\"]"]).expect("no level uses the shares");
        assert_eq!((study.settings.number("workload.read"), study.factors.len()), (Ok(0.0), 1));
        let study = with(&["factor.workload.mix=[\"a\", \"own\"]"]).expect("a level uses them");
        assert_eq!(study.settings.number("workload.read"), Ok(0.5));
    }

    #[test]
    fn another_mix_takes_the_place_of_shares_that_vary_in_the_file() {
        let file = |factor: &str| {
            format!(
                "[study]\nname = \"s\"\ntitle = \"t\"\n[workload]\nkind = \"ycsb\"\nrecords = 100\nvirtual_users = 1\n\
                 mix = \"own\"\n[engine]\nkind = \"sqlite\"\n[[factor]]\n{factor}\n"
            )
        };
        let with = |text: &str, change: &str| {
            let change = parse_assignment(change).expect("an assignment");
            validate(text, &[change], &catalogue()).map_err(|faults| faults_text(&faults))
        };
        let group = file(
            "setting = \"workload\"\nlevels = [{ read = 1.0, virtual_users = 1 }, \
             { read = 0.5, update = 0.5, virtual_users = 2 }]",
        );
        let alone = file("setting = \"workload\"\nlevels = [{ read = 1.0 }, { read = 0.5, update = 0.5 }]");
        for change in ["workload.mix=b", "factor.workload.mix=[\"a\", \"b\"]"] {
            let varied = |text: &str| {
                let study = with(text, change).expect("the shares are left out");
                study.factors.iter().flat_map(proofload_model::study::Factor::paths).collect::<Vec<_>>()
            };
            let of_mix = if change.starts_with("factor.") { vec!["workload.mix"] } else { Vec::new() };
            assert_eq!(varied(&alone), of_mix, "{change}");
            assert_eq!(varied(&group), [vec!["workload.virtual_users"], of_mix].concat(), "{change}");
        }
        let kept = with(&alone, "workload.virtual_users=2").expect("the mix is the file's");
        assert!(kept.factors.iter().any(|factor| factor.varies("workload.read")));
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

    #[test]
    fn each_engine_says_what_experiments_change_of_it_and_which_roles_it_has() {
        let found = |engine: &str, change: &str| faults(&[&format!("engine.kind={engine}"), change]);
        let told = found("mysql", "confirm.engine=[\"cache\"]");
        assert!(told.contains("confirm.engine: ") && told.contains("mysql has nothing that can"), "{told}");
        let told = found("postgresql", "confirm.engine=[\"cache\"]");
        assert!(told.contains("of postgresql only autovacuum, checkpoints, durability can"), "{told}");
        assert!(!found("mariadb", "confirm.engine=[\"cache\"]").contains("confirm.engine"));
        let role = |engine: &str, role: &str| found(engine, &format!("limits.thread={role}"));
        assert!(role("postgresql", "walsendr").contains("did you mean walsender?"));
        assert!(role("mariadb", "binlogdump").contains("did you mean binlog_dump?"));
        for taken in ["walsender", "bg worker", "job worker", "cron worker", "wal writer"] {
            let found = role("postgresql", &format!("{taken:?}"));
            assert!(!found.contains("is not known to have a role"), "{found}");
        }
    }

    /// Code that asks for a setting by a name asks for one that a study may have.
    #[test]
    fn every_named_path_is_in_a_table() {
        let catalogue = catalogue();
        for path in proofload_model::settings::setting::NAMED {
            assert!(catalogue.settings().any(|spec| spec.path == *path), "{path}");
        }
    }
}
