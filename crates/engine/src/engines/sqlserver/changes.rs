//! Settings of the whole server that a study changes with leave (`engine.changes = "allowed"`): its memory, its cores, the memory of a query,
//! and whatever else it has. Before the first change of each, its old value is noted in the study's database, so that it can be put back, also
//! by another process after a kill. What is put back is read back. May not change what was not asked for.

use super::database::{self, text};
use super::unlisted::{self, UnlistedSetting};
use super::wire::ServerConnection;
use crate::contract::{Error, OwnedValue, Target};
use proofload_model::settings::{Kind, Scope, SettingSpec, setting};

/// The engine's own settings.
pub(super) const SETTINGS: &[SettingSpec] = &[
    SettingSpec::new(
    setting::ENGINE_CHANGES,
    Kind::OneOf(&["refused", "allowed"]),
    "refused",
    "Whether settings of the whole server may be changed, such as its memory and its cores; each old value is noted in the study's database \
     and put back at the end of a run.",
    )
    .only(Scope::Engine("sqlserver")),
    SettingSpec::optional(
        "engine.backup",
        Kind::List,
        "Files on the server in which it keeps the backup that runs are restored from: one path, or a list of paths, which the server writes and \
         reads side by side. By default one file named after the database, in the server's folder of backups.",
    )
    .only(Scope::Engine("sqlserver")),
];

/// Name of the setting in a target.
const CHANGES: &str = "changes";
/// The extended property of the study's database that holds old values.
const NOTES: &str = "proofload_changed";
/// The setting without which others may not be changed.
const ADVANCED: &str = "show advanced options";

/// An old value.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ChangeNote {
    name: String,
    old: String,
}

/// Whether a target's server may be changed.
pub(super) fn allowed(target: &Target) -> bool {
    let last = target.place.settings.iter().rev().find(|(name, _)| name == CHANGES);
    last.is_some_and(|(_, value)| value == "allowed")
}

/// Whether a name is that of our own setting, and not the server's.
pub(super) fn is_ours(name: &str) -> bool {
    name == CHANGES || name == "backup"
}

/// Changes a setting of the server, by the server's own name of it, after its old value is noted.
pub(super) async fn set(connection: &mut ServerConnection, name: &str, old: &str, value: i64) -> Result<(), Error> {
    let mut notes = read(connection).await?;
    let advanced =
        "SELECT CAST(value_in_use AS varchar(20)) FROM sys.configurations WHERE name = 'show advanced options'";
    let advanced = first_text(&connection.rows(advanced).await?);
    // What was noted first is put back last: without it nothing else could be.
    for (name, old) in [(ADVANCED, advanced.as_str()), (name, old)] {
        note(connection, &mut notes, name, old).await?;
    }
    let context =
        |error: Error| error.context(format!("set {name} of the server to {value}; the account needs ALTER SETTINGS"));
    connection.text(&configure(ADVANCED, "1")).await.map_err(context)?;
    connection.text(&configure(name, &value.to_string())).await.map_err(context)
}

/// Changes a setting that `sys.configurations` does not list, after its old value is noted.
pub(super) async fn set_unlisted(
    connection: &mut ServerConnection,
    setting: &UnlistedSetting,
    value: i64,
) -> Result<(), Error> {
    let context =
        |error: Error| error.context(format!("set {} of the server to {value}; {}", setting.name, setting.needs));
    let old = unlisted_now(connection, setting).await.map_err(context)?;
    let mut notes = read(connection).await?;
    note(connection, &mut notes, setting.note, &old).await.map_err(context)?;
    connection.text(&(setting.set)(value)).await.map_err(context)
}

/// What would be noted now of a setting that `sys.configurations` does not list.
async fn unlisted_now(connection: &mut ServerConnection, setting: &UnlistedSetting) -> Result<String, Error> {
    let rows = connection.rows(setting.old).await;
    Ok(first_text(&rows.map_err(|error| error.context(format!("read {} of the server", setting.note)))?))
}

/// Puts every noted value back, the last first, and reads each back; nothing where none is noted.
pub(super) async fn put_back(target: &Target) -> Result<(), Error> {
    let (mut connection, _) = database::open(target).await?;
    put_back_unless(&mut connection, |_| false).await
}

/// Puts back what is noted and not asked for, which a run has left that was killed: this one would be measured under it.
pub(super) async fn put_back_unless(
    connection: &mut ServerConnection,
    is_asked: impl Fn(&str) -> bool,
) -> Result<(), Error> {
    let mut notes = read(connection).await?;
    let mut place = notes.len();
    while place > 0 {
        place -= 1;
        let ChangeNote { name, old } = &notes[place];
        // What others need to be put back goes last, once none is left.
        let is_needed = name == ADVANCED && notes.len() > 1;
        if is_needed || is_asked(setting_of(name)) {
            continue;
        }
        restore(connection, name, old)
            .await
            .map_err(|error| error.context(format!("put {name} of the server back to {old}")))?;
        notes.remove(place);
        write(connection, &notes).await?;
    }
    Ok(())
}

/// Puts one value back, and fails where it is not in force then.
async fn restore(connection: &mut ServerConnection, name: &str, old: &str) -> Result<(), Error> {
    let unlisted = unlisted::of_note(name);
    // What the server refused to change was noted before: it is as it was, and who may not change it may not put it back either.
    if unlisted.is_some() && is_same(old, &value_now(connection, name).await?) {
        return Ok(());
    }
    let statement = unlisted.map_or_else(|| configure(name, old), |setting| (setting.put_back)(old));
    connection.text(&statement).await?;
    let now = value_now(connection, name).await?;
    if is_same(old, &now) {
        return Ok(());
    }
    Err(Error::other(format!("the server still has {now:?}; set it by hand")))
}

/// The value that the server has of what a note names.
async fn value_now(connection: &mut ServerConnection, name: &str) -> Result<String, Error> {
    if let Some(setting) = unlisted::of_note(name) {
        return unlisted_now(connection, setting).await;
    }
    let sql = format!("SELECT CAST(c.value AS varchar(20)) FROM sys.configurations c WHERE c.name = {}", text(name));
    let rows = connection.rows(&sql).await.map_err(|error| error.context(format!("read {name} of the server")))?;
    Ok(first_text(&rows))
}

/// Whether two values are the same: a word or number, or several, such as processors, in any order.
fn is_same(one: &str, other: &str) -> bool {
    let sorted = |text: &str| {
        let mut parts: Vec<String> = text.split(',').map(str::to_owned).collect();
        parts.sort();
        parts
    };
    sorted(one) == sorted(other)
}

/// The name that a study has for what a note names.
fn setting_of(name: &str) -> &str {
    unlisted::of_note(name).map_or(name, |setting| setting.name)
}

/// A change that a killed run has left, which nobody may put back here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LeftChange {
    /// Name of the setting, as the server or a study has it.
    pub(super) name: String,
    /// Value before all changes.
    pub(super) old: String,
    /// Value now.
    pub(super) now: String,
}

/// Changes that are noted and still in force.
pub(super) async fn left(connection: &mut ServerConnection) -> Result<Vec<LeftChange>, Error> {
    let mut found = Vec::new();
    for ChangeNote { name, old } in read(connection).await?.into_iter().filter(|note| note.name != ADVANCED) {
        let now = value_now(connection, &name).await?;
        if !is_same(&old, &now) {
            found.push(LeftChange { name: setting_of(&name).to_owned(), old, now });
        }
    }
    Ok(found)
}

fn configure(name: &str, value: &str) -> String {
    format!("EXEC sys.sp_configure {}, {value}; RECONFIGURE", text(name))
}

/// Notes an old value, unless there is one: that is the value from before all changes.
async fn note(
    connection: &mut ServerConnection,
    notes: &mut Vec<ChangeNote>,
    name: &str,
    old: &str,
) -> Result<(), Error> {
    if notes.iter().any(|known| known.name == name) {
        return Ok(());
    }
    // It is put back as it stands: whole numbers and words, with commas.
    let is_plain =
        !old.is_empty() && old.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, ',' | '-'));
    if !is_plain {
        return Err(Error::other(format!(
            "the old value of {name} is {old:?}, which could not be put back; nothing is changed"
        )));
    }
    notes.push(ChangeNote { name: name.to_owned(), old: old.to_owned() });
    write(connection, notes).await
}

async fn read(connection: &mut ServerConnection) -> Result<Vec<ChangeNote>, Error> {
    let sql = format!(
        "SELECT CAST(value AS varchar(4000)) FROM sys.extended_properties WHERE class = 0 AND name = '{NOTES}'"
    );
    let rows = connection.rows(&sql).await.map_err(|error| error.context("read what was changed of the server"))?;
    let notes = first_text(&rows);
    let note =
        |line: &str| line.split_once('=').map(|(name, old)| ChangeNote { name: name.to_owned(), old: old.to_owned() });
    Ok(notes.split(';').filter_map(note).collect())
}

async fn write(connection: &mut ServerConnection, notes: &[ChangeNote]) -> Result<(), Error> {
    let lines: Vec<String> = notes.iter().map(|ChangeNote { name, old }| format!("{name}={old}")).collect();
    let there = format!("EXISTS (SELECT 1 FROM sys.extended_properties WHERE class = 0 AND name = '{NOTES}')");
    let value = text(&lines.join(";")).split_off(1);
    let sql = if notes.is_empty() {
        format!("IF {there} EXEC sys.sp_dropextendedproperty @name = N'{NOTES}'")
    } else {
        format!(
            "IF {there} EXEC sys.sp_updateextendedproperty @name = N'{NOTES}', @value = {value} \
             ELSE EXEC sys.sp_addextendedproperty @name = N'{NOTES}', @value = {value}"
        )
    };
    connection.text(&sql).await.map_err(|error| error.context("note what is changed of the server"))
}

/// The first value as text.
fn first_text(rows: &[Vec<OwnedValue>]) -> String {
    match rows.first().and_then(|row| row.first()) {
        Some(OwnedValue::Text(text)) => text.clone(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_are_the_same_in_any_order() {
        assert!(is_same("0,2,1", "2,0,1") && is_same("AUTO", "AUTO") && is_same("4096", "4096"));
        assert!(!is_same("0,1", "0,1,2") && !is_same("AUTO", "0") && !is_same("4096", ""));
    }
}
