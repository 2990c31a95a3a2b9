//! The recovery model during a build: a database that Proofload has just made is switched from FULL to BULK_LOGGED, so that rows in bulk need
//! not be logged one by one, and back when the build is settled. The switch is noted in the database before, so that whoever comes after a
//! killed build goes on with it or puts it back. May not touch a database that Proofload did not make. Never run on a server. Source:
//! Microsoft's documentation, "Recovery models (SQL Server)", "Prerequisites for minimal logging in bulk import", "Prerequisites,
//! restrictions, and recommendations for Always On availability groups" (databases of a group must be in FULL), `sys.databases`.

use super::wire::{ServerConnection, quoted};
use crate::contract::{Error, OwnedValue};
use proofload_model::facts::engine;
use proofload_model::samples::Fact;

/// The model, whether it has to stay as it is, and what is noted of a build. It has to stay in an availability group, and on Azure SQL
/// Database and Managed Instance, which have no other.
const LOOK: &str = include_str!("recovery.sql");
/// The extended property that says how far a build is.
const NOTE: &str = "proofload_recovery";
/// What the note says while a build goes on, and once the model is put back.
const BUILDING: &str = "building";
const BUILT: &str = "built";
/// The models of a database before and after a build, and during it. Under SIMPLE nothing would be gained.
const LASTING: &str = "FULL";
const DURING: &str = "BULK_LOGGED";
/// Name of the fact.
const FACT: &str = "build_recovery_model";

/// What a database says of its recovery model.
#[derive(Debug, Clone, PartialEq, Eq)]
struct RecoveryState {
    model: String,
    /// Whether it has to stay as it is.
    is_held: bool,
    /// What is noted; empty where no build has switched it.
    note: String,
}

impl RecoveryState {
    /// Reads it; `None` where the server does not tell.
    async fn read(connection: &mut ServerConnection) -> Result<Option<Self>, Error> {
        let rows = connection.rows(LOOK).await.map_err(|error| error.context("read the recovery model"))?;
        Ok(match rows.first().map(Vec::as_slice) {
            Some([OwnedValue::Text(model), OwnedValue::Integer(held), OwnedValue::Text(note)]) => {
                Some(Self { model: model.trim().to_owned(), is_held: *held != 0, note: note.trim().to_owned() })
            }
            _ => None,
        })
    }
}

/// Tells whether a build has switched the model, and nobody has put it back.
pub(super) async fn is_switched(connection: &mut ServerConnection) -> Result<bool, Error> {
    Ok(RecoveryState::read(connection).await?.is_some_and(|state| state.note == BUILDING))
}

/// Switches the model for a build of a database that was just made, or of one whose build goes on. `is_made`: this process made it.
pub(super) async fn begin(connection: &mut ServerConnection, name: &str, is_made: bool) -> Result<(), Error> {
    let Some(state) = RecoveryState::read(connection).await? else { return Ok(()) };
    let is_building = state.note == BUILDING;
    if state.model != LASTING || state.is_held || !(is_made || is_building) {
        return Ok(());
    }
    if !is_building {
        note(connection, BUILDING).await?;
    }
    set(connection, name, DURING).await
}

/// Puts the model back that a build has switched, also one that was killed; nothing where none has.
pub(super) async fn put_back(connection: &mut ServerConnection, name: &str) -> Result<(), Error> {
    let Some(state) = RecoveryState::read(connection).await?.filter(|state| state.note == BUILDING) else {
        return Ok(());
    };
    if state.model == DURING {
        set(connection, name, LASTING).await?;
    }
    note(connection, BUILT).await
}

/// The fact that the data were built under another model than they are measured under, where they were.
pub(super) async fn fact(connection: &mut ServerConnection) -> Result<Option<Fact>, Error> {
    let state = RecoveryState::read(connection).await?.filter(|state| state.note == BUILT);
    let source = "extended property proofload_recovery; it was FULL before the build, and was put back after it";
    Ok(state.map(|_| engine::SETTING.of(FACT).observed(DURING, source)))
}

async fn set(connection: &mut ServerConnection, name: &str, model: &str) -> Result<(), Error> {
    let context = |error: Error| {
        error.context(format!("set recovery model {model} for database {name}; the account needs db_owner in it"))
    };
    connection.text(&format!("ALTER DATABASE {} SET RECOVERY {model}", quoted(name))).await.map_err(context)
}

async fn note(connection: &mut ServerConnection, word: &str) -> Result<(), Error> {
    let sql = format!(
        "IF EXISTS (SELECT 1 FROM sys.extended_properties WHERE class = 0 AND name = '{NOTE}') \
         EXEC sys.sp_updateextendedproperty @name = N'{NOTE}', @value = '{word}' \
         ELSE EXEC sys.sp_addextendedproperty @name = N'{NOTE}', @value = '{word}'"
    );
    connection.text(&sql).await.map_err(|error| error.context("note the recovery model of a build"))
}
