//! Settings of the server that `sys.configurations` does not list, as data: the statements that read each, set it and put it back. Never run on
//! a server. Source: Microsoft's documentation, "ALTER SERVER CONFIGURATION", "ALTER WORKLOAD GROUP", "ALTER RESOURCE GOVERNOR", "Resource
//! governor", "`sys.dm_resource_governor_workload_groups`", "`sys.dm_resource_governor_configuration`".

use std::ops::RangeInclusive;

/// The setting of how much memory a query is granted at most, in per cent of what all queries can be granted.
pub(super) const MEMORY_GRANT: &str = "request_max_memory_grant_percent";

/// Words by which a note says whether the resource governor was at work: it is not on a server whose owner never asked for it.
const DISABLED: &str = "DISABLED";

/// A setting of the server that is no row of `sys.configurations`.
pub(super) struct UnlistedSetting {
    /// Name that studies have for it.
    pub(super) name: &'static str,
    /// Name that notes of old values have for it.
    pub(super) note: &'static str,
    /// Query of what is in force: names, values and where they stand, as in `settings.sql`.
    pub(super) in_force: &'static str,
    /// Query of what is noted and put back, as one text.
    pub(super) old: &'static str,
    /// Values that can be set.
    pub(super) values: RangeInclusive<i64>,
    /// Statements that set a value.
    pub(super) set: fn(i64) -> String,
    /// Statements that put back what was noted.
    pub(super) put_back: fn(&str) -> String,
    /// What account and server need for it.
    pub(super) needs: &'static str,
}

/// All of them.
pub(super) const UNLISTED: &[UnlistedSetting] = &[
    UnlistedSetting {
        name: "online_schedulers",
        note: "process affinity",
        in_force: include_str!("schedulers.sql"),
        old: include_str!("affinity.sql"),
        values: 1..=i64::MAX,
        set: first_processors,
        put_back: affinity,
        needs: "the account needs ALTER SETTINGS",
    },
    UnlistedSetting {
        name: MEMORY_GRANT,
        note: MEMORY_GRANT,
        in_force: include_str!("memory_grant.sql"),
        old: include_str!("memory_grant_old.sql"),
        values: 1..=100,
        set: limited_grant,
        put_back: grant_as_noted,
        needs: "the account needs CONTROL SERVER, and the server an edition with the resource governor: Enterprise or Developer, \
                from SQL Server 2025 on also Standard",
    },
];

/// The setting of this name in studies.
pub(super) fn of_name(name: &str) -> Option<&'static UnlistedSetting> {
    UNLISTED.iter().find(|setting| setting.name == name)
}

/// The setting of this name in notes.
pub(super) fn of_note(note: &str) -> Option<&'static UnlistedSetting> {
    UNLISTED.iter().find(|setting| setting.note == note)
}

fn affinity(processors: &str) -> String {
    format!("ALTER SERVER CONFIGURATION SET PROCESS AFFINITY CPU = {processors}")
}

/// Has so many schedulers work, on the first processors.
fn first_processors(count: i64) -> String {
    affinity(&format!("0 TO {}", count - 1))
}

/// The group in which every session is that nobody has put into another.
fn grant(percent: &str) -> String {
    format!("ALTER WORKLOAD GROUP [default] WITH (REQUEST_MAX_MEMORY_GRANT_PERCENT = {percent})")
}

/// `RECONFIGURE` also puts a governor to work that was disabled.
fn limited_grant(percent: i64) -> String {
    format!("{}; ALTER RESOURCE GOVERNOR RECONFIGURE", grant(&percent.to_string()))
}

/// Takes a value and whether the governor was at work.
fn grant_as_noted(old: &str) -> String {
    let (percent, state) = old.split_once(',').unwrap_or((old, ""));
    let end = match state {
        // A server that refused to put it to work has it disabled, and refuses this, too.
        DISABLED => {
            "IF EXISTS (SELECT 1 FROM sys.resource_governor_configuration WHERE is_enabled = 1) ALTER RESOURCE GOVERNOR DISABLE"
        }
        _ => "ALTER RESOURCE GOVERNOR RECONFIGURE",
    };
    format!("{}; {end}", grant(percent))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What sets a value and what puts an old one back, word for word.
    fn check(name: &str, value: i64, set: &str, old: &str, put_back: &str) {
        let setting = of_name(name).unwrap_or_else(|| panic!("{name} is no setting"));
        assert!(setting.values.contains(&value) && !setting.values.contains(&0), "{name}");
        assert_eq!(((setting.set)(value).as_str(), (setting.put_back)(old).as_str()), (set, put_back));
        assert!(of_note(setting.note).is_some_and(|found| found.name == name));
        assert!(setting.in_force.contains(&format!("SELECT '{name}'")), "its rows have its name: {}", setting.in_force);
    }

    #[test]
    fn each_setting_is_set_and_put_back_by_its_own_statements() {
        let affinity = "ALTER SERVER CONFIGURATION SET PROCESS AFFINITY CPU = ";
        check("online_schedulers", 32, &format!("{affinity}0 TO 31"), "0,2", &format!("{affinity}0,2"));
        let group = |percent: &str, end: &str| {
            format!("ALTER WORKLOAD GROUP [default] WITH (REQUEST_MAX_MEMORY_GRANT_PERCENT = {percent}); {end}")
        };
        let reconfigure = "ALTER RESOURCE GOVERNOR RECONFIGURE";
        let disable = "IF EXISTS (SELECT 1 FROM sys.resource_governor_configuration WHERE is_enabled = 1) ALTER RESOURCE GOVERNOR DISABLE";
        check(MEMORY_GRANT, 12, &group("12", reconfigure), "40,ENABLED", &group("40", reconfigure));
        check(MEMORY_GRANT, 100, &group("100", reconfigure), "25,DISABLED", &group("25", disable));
        assert!(of_name(MEMORY_GRANT).is_some_and(|setting| !setting.values.contains(&101)));
        assert!(of_name("max_server_memory_mb").is_none() && of_note("show advanced options").is_none());
    }

    #[test]
    fn a_note_says_whether_the_governor_was_at_work() {
        let setting = of_name(MEMORY_GRANT).expect("it is one");
        assert!(
            setting.old.contains(&format!("',{DISABLED}'")) && setting.old.contains("',ENABLED'"),
            "{}",
            setting.old
        );
    }
}
