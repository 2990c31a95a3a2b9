//! Statements as a workload's suite gives them: named, with named parameters and the shape of what they return.

/// Place of a statement in the list that a session has prepared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct StatementId(pub u16);

/// A statement to prepare once per session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// Name, for errors and reports.
    pub name: String,
    /// SQL of the engine's dialect with `:name` parameters; the engine rewrites them to its own form.
    pub sql: String,
    /// Parameters in the order in which calls bind them.
    pub parameters: Vec<String>,
    /// Number of columns of each returned row; 0 when it returns none. The null engine answers one row of ones of this width.
    pub columns: u16,
}

/// Transaction control, part of a flight like any statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Control {
    /// Begin a transaction that writes (SQLite: `BEGIN IMMEDIATE`).
    Begin,
    /// Begin a transaction that only reads.
    BeginReadOnly,
    /// Commit.
    Commit,
    /// Roll back.
    Rollback,
}
