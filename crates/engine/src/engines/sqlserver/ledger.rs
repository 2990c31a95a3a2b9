//! The table in which a prober writes, as T-SQL has it: no `IF NOT EXISTS`, no `LIMIT`, and `timestamp` is no time.

use crate::contract::LedgerTexts;

/// The texts.
pub(super) const TEXTS: LedgerTexts = LedgerTexts {
    table: include_str!("ledger.sql"),
    newest: |rows| format!("SELECT TOP ({rows}) op FROM proofload_ledger ORDER BY op DESC"),
};

#[cfg(test)]
mod tests {
    use super::super::script;
    use super::*;

    #[test]
    fn the_table_is_made_by_one_statement_and_nothing_is_of_another_dialect() {
        assert_eq!(script::statements(TEXTS.table).len(), 1);
        let newest = (TEXTS.newest)(16);
        assert_eq!(newest, "SELECT TOP (16) op FROM proofload_ledger ORDER BY op DESC");
        for word in ["IF NOT EXISTS", "timestamp", "now()", "LIMIT"] {
            assert!(!TEXTS.table.contains(word) && !newest.contains(word), "{word}");
        }
    }
}
