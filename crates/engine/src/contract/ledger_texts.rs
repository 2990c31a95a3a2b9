//! Texts of the table in which a prober writes its numbers, where the standard ones are not an engine's.

/// Texts of the table `proofload_ledger` with the column `op`.
#[derive(Debug, Clone, Copy)]
pub struct LedgerTexts {
    /// Makes the table where it is not there.
    pub table: &'static str,
    /// Reads so many of its largest numbers, the largest first.
    pub newest: fn(usize) -> String,
}

impl LedgerTexts {
    /// Texts that most engines take.
    pub const STANDARD: Self = Self {
        table: "CREATE TABLE IF NOT EXISTS proofload_ledger (op bigint PRIMARY KEY, at timestamp NOT NULL DEFAULT now())",
        newest: |rows| format!("SELECT op FROM proofload_ledger ORDER BY op DESC LIMIT {rows}"),
    };
}
