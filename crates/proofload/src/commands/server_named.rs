//! A server whose own settings a study changes is named twice, as a device whose data are lost.

use proofload_model::drill::{FaultAsked, FaultKind};
use proofload_model::settings::{Value, setting};
use proofload_model::study::{Study, purged_devices, values_of};

/// Servers that a study changes beyond its database, each as host and database of its URL.
pub(super) fn changed_servers(study: &Study) -> Vec<String> {
    let values = |path: &'static str| values_of(path, &study.settings, &study.factors);
    let text = |value: &Value| match value {
        Value::Text(text) => Some(text.clone()),
        _ => None,
    };
    let mut words = values(setting::ENGINE_CHANGES).into_iter().filter_map(text);
    if !words.any(|word| word == "allowed") {
        return Vec::new();
    }
    values(setting::ENGINE_URL).into_iter().filter_map(text).map(|url| host_and_database(&url)).collect()
}

/// Names that `--yes` must have for a study, with commas between: devices whose data are lost, and servers that are changed.
pub(super) fn names_for_yes(study: &Study) -> String {
    let once = study.settings.text(setting::STORAGE_PRECONDITION_DEVICE).ok().map(str::to_owned);
    let mut names: Vec<String> = once.into_iter().collect();
    for name in purged_devices(&study.settings).into_iter().chain(changed_servers(study)) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.join(",")
}

/// What a study does to the servers that it changes, for people.
pub(super) fn changes_in_words(study: &Study) -> String {
    let settings = "settings of the whole server are changed and put back after each run (engine.changes)";
    let faults = values_of(setting::DRILL_FAULT, &study.settings, &study.factors);
    let faults: Vec<FaultAsked> =
        faults.iter().filter_map(|value| FaultAsked::of(&value.to_string()).flatten()).collect();
    let failover = if faults.iter().any(|fault| fault.kind == FaultKind::ForcedFailover) {
        "; all databases of its group are forced to another server (drill.fault): DESTRUCTIVE, acknowledged commits may be lost"
    } else if faults.iter().any(|fault| fault.is_a_failover()) {
        "; all databases of its group move to another server (drill.fault)"
    } else {
        ""
    };
    format!("{settings}{failover}")
}

/// Settings of a server are changed only when it is named twice.
pub(super) fn servers_named(study: &Study, confirmed: Option<&str>) -> Result<(), String> {
    let servers = changed_servers(study);
    // A URL of several hosts has commas itself.
    let named = format!(",{},", confirmed.unwrap_or_default());
    if servers.iter().all(|server| named.contains(&format!(",{server},"))) {
        return Ok(());
    }
    Err(format!(
        "this study changes {}: {}; to confirm, add --yes {}",
        servers.join(" and "),
        changes_in_words(study),
        names_for_yes(study)
    ))
}

/// What stands between the account and the options of a URL.
pub(super) fn host_and_database(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let rest = rest.split('?').next().unwrap_or(rest);
    let (hosts, database) = rest.split_once('/').unwrap_or((rest, ""));
    let hosts = hosts.rsplit_once('@').map_or(hosts, |(_, hosts)| hosts);
    if database.is_empty() { hosts.to_owned() } else { format!("{hosts}/{database}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofload_model::settings::Settings;

    fn study(url: &str, changes: &str) -> Study {
        let mut settings = Settings::default();
        for (path, text) in [("engine.url", url), ("engine.changes", changes)] {
            settings.0.insert(path.to_owned(), Value::Text(text.to_owned()));
        }
        Study { settings, factors: Vec::new() }
    }

    #[test]
    fn a_server_that_is_changed_is_named_as_its_url_has_it() {
        let named = |url: &str| changed_servers(&study(url, "allowed"));
        assert_eq!(named("sqlserver://bench@db1:1433/shop?encrypt=none"), ["db1:1433/shop"]);
        assert_eq!(named("sqlserver://db1"), ["db1"]);
        assert_eq!(named("sqlserver://me@a,b:1433/s@le"), ["a,b:1433/s@le"]);
        assert!(changed_servers(&study("sqlserver://db1/shop", "refused")).is_empty());
    }

    #[test]
    fn a_failover_is_said_where_the_server_is_named() {
        let with = |fault: &str| {
            let mut study = study("sqlserver://me@a,b/shop", "allowed");
            study.settings.0.insert("drill.fault".to_owned(), Value::Text(fault.to_owned()));
            servers_named(&study, None).expect_err("it is not named")
        };
        assert!(with("switchover").contains("all databases of its group move to another server"));
        let forced = with("forced failover");
        assert!(forced.contains("DESTRUCTIVE, acknowledged commits may be lost"), "{forced}");
        assert!(forced.ends_with("add --yes a,b/shop"), "{forced}");
        assert!(!with("none").contains("group"));
    }

    #[test]
    fn all_names_are_asked_for_at_once() {
        let mut study = study("sqlserver://me@db1/shop", "allowed");
        for path in ["storage.precondition.device", "storage.purge.device"] {
            study.settings.0.insert(path.to_owned(), Value::Text("/dev/sdb".to_owned()));
        }
        assert_eq!(names_for_yes(&study), "/dev/sdb,db1/shop");
        let refused = servers_named(&study, Some("/dev/sdb")).expect_err("the server is not named");
        assert!(refused.ends_with("add --yes /dev/sdb,db1/shop"), "{refused}");
        assert_eq!(servers_named(&study, Some("/dev/sdb,db1/shop")), Ok(()));
    }

    #[test]
    fn without_its_name_nothing_is_started() {
        let check = |url: &str, confirmed: Option<&str>| servers_named(&study(url, "allowed"), confirmed);
        let refused = check("sqlserver://me@db1/shop", None).expect_err("it is not named");
        assert!(refused.ends_with("add --yes db1/shop"), "{refused}");
        assert!(check("sqlserver://me@db1/shop", Some("db1/sho")).is_err());
        assert!(check("sqlserver://me@db1/shop", Some("other/db1/shop")).is_err());
        assert_eq!(check("sqlserver://me@db1/shop", Some("db1/shop")), Ok(()));
        assert_eq!(check("sqlserver://me@a,b/shop", Some("/dev/sdb,a,b/shop")), Ok(()));
        assert_eq!(servers_named(&study("sqlserver://db1", "refused"), None), Ok(()));
    }
}
