//! What an observer reads of the server's status, as a table. What a server does not tell is left out. Source: knowledge base, "Server Status
//! Variables" and "InnoDB Status Variables".

/// One number of the status.
#[derive(Debug, Clone, Copy)]
pub(in crate::engines) struct StatusVariable {
    /// Its name in the server's list.
    pub(super) variable: &'static str,
    /// Name of the series.
    pub(super) name: &'static str,
    /// Unit; of the rate where the number is a total.
    pub(super) unit: &'static str,
    /// Whether it is a total since the start of the server.
    pub(super) cumulative: bool,
}

impl StatusVariable {
    /// A number of events since the start.
    pub(in crate::engines) const fn events(variable: &'static str, name: &'static str) -> Self {
        Self { variable, name, unit: "1/s", cumulative: true }
    }

    /// Bytes since the start.
    pub(in crate::engines) const fn bytes(variable: &'static str, name: &'static str) -> Self {
        Self { variable, name, unit: "B/s", cumulative: true }
    }

    /// Milliseconds spent, since the start.
    pub(in crate::engines) const fn busy(variable: &'static str, name: &'static str) -> Self {
        Self { variable, name, unit: "ms/s", cumulative: true }
    }

    /// What is there now.
    pub(in crate::engines) const fn level(variable: &'static str, name: &'static str, unit: &'static str) -> Self {
        Self { variable, name, unit, cumulative: false }
    }
}

/// Series of blocks that were asked for and found: the server counts those asked for, found or not.
pub(super) const HITS: &str = "block_hits";
/// Series of blocks that were read.
pub(super) const READS: &str = "block_reads";

/// Numbers that every flavour has; see those of each. Commits and rollbacks are statements, those inside of routines included; what commits by itself is not among them.
pub(super) const COUNTERS: &[StatusVariable] = &[
    StatusVariable::events("com_commit", "commits"),
    StatusVariable::events("com_rollback", "rollbacks"),
    StatusVariable::events("innodb_buffer_pool_reads", READS),
    StatusVariable::events("innodb_buffer_pool_read_requests", HITS),
    StatusVariable::events("innodb_buffer_pool_pages_flushed", "blocks_flushed"),
    StatusVariable::events("innodb_buffer_pool_wait_free", "waits_for_free_blocks"),
    StatusVariable::level("innodb_buffer_pool_pages_dirty", "dirty_blocks", "blocks"),
    StatusVariable::level("innodb_buffer_pool_pages_data", "blocks_with_data", "blocks"),
    StatusVariable::level("innodb_buffer_pool_pages_total", "blocks", "blocks"),
    StatusVariable::bytes("innodb_data_read", "data_read_bytes"),
    StatusVariable::bytes("innodb_data_written", "data_written_bytes"),
    StatusVariable::events("innodb_data_reads", "data_reads"),
    StatusVariable::events("innodb_data_writes", "data_writes"),
    StatusVariable::events("innodb_data_fsyncs", "data_syncs"),
    StatusVariable::events("innodb_dblwr_pages_written", "doublewrite_blocks"),
    StatusVariable::bytes("innodb_os_log_written", "log_bytes"),
    StatusVariable::events("innodb_log_waits", "log_buffer_waits"),
    StatusVariable::events("innodb_log_writes", "log_writes"),
    StatusVariable::events("innodb_row_lock_waits", "lock_waits"),
    StatusVariable::busy("innodb_row_lock_time", "lock_wait_time"),
    StatusVariable::level("innodb_row_lock_current_waits", "waiting_for_locks", "sessions"),
    StatusVariable::level("threads_running", "running_sessions", "sessions"),
    StatusVariable::level("threads_connected", "connected_sessions", "sessions"),
    StatusVariable::events("aborted_clients", "aborted_sessions"),
    StatusVariable::bytes("bytes_received", "network_received"),
    StatusVariable::bytes("bytes_sent", "network_sent"),
    StatusVariable::events("created_tmp_disk_tables", "temporary_tables_on_disk"),
];
