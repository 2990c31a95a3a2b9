//! What every engine must supply. Lists and re-exports.

mod document_buffer;
mod documents;
mod endpoints;
mod engine;
mod error;
mod facets;
mod flight;
mod group_failover;
mod ledger_texts;
mod live;
mod observer;
mod ports;
mod reached;
mod recording;
mod replication;
mod rights;
mod rows;
mod scratch;
mod server;
mod session;
mod statement;
mod value;

pub use document_buffer::{DocumentBuffer, DocumentRef};
pub use documents::{Collection, Documents, Fields, InsertOutcome};
pub use endpoints::Endpoints;
pub use engine::{About, DocumentEngine, Engine, Installation, SqlEngine, Target, Work};
pub use error::{Error, ErrorClass};
pub use facets::{Backups, ExistingServer, Memory, ProgressTeller, ServerChanges, Snapshots};
pub use flight::{Action, Answer, Flight, Row};
pub use group_failover::{FailoverOrder, GroupFailover};
pub use ledger_texts::LedgerTexts;
pub use live::{LiveChange, LiveSetting, LiveSettings};
pub use observer::{Observation, Observer, RoleCpu, SessionSampler};
pub use ports::free_port;
pub(crate) use reached::note_reached;
pub use reached::noting_reached;
pub use recording::WireRecorder;
pub use replication::{
    ExistingReplication, ManagedServer, Reachable, RelayPlaces, Replication, ReplicationWatch, Rewind, SocketPlace,
    StandbyFiles,
};
pub(crate) use rights::asked;
pub use rights::{MissingRight, RightPurpose, RightsFailure, ServerRights, SessionRoom};
pub use rows::{Column, ColumnKind, RowSource, Table};
pub use scratch::{ScratchDatabases, ScratchState};
pub(crate) use server::STOPS_WITHIN;
pub use server::{AfterKill, CommandLine, FileToWrite, ServerRecipe, SharedSegment};
pub use session::{OwnedRow, OwnedValue, Session};
pub use statement::{Control, Statement, StatementId};
pub use value::{AsciiText, Decimal, Value};
