//! What an observer reads of the server's status, as a table. What a server does not tell is left out. Source: knowledge base, "Server Status
//! Variables" and "InnoDB Status Variables".

/// One number of the status.
#[derive(Debug, Clone, Copy)]
pub(super) struct StatusVariable {
    /// Its name in the server's list.
    pub(super) variable: &'static str,
    /// Name of the series.
    pub(super) name: &'static str,
    /// Unit; of the rate where the number is a total.
    pub(super) unit: &'static str,
    /// Whether it is a total since the start of the server.
    pub(super) cumulative: bool,
}

const fn events(variable: &'static str, name: &'static str) -> StatusVariable {
    StatusVariable { variable, name, unit: "1/s", cumulative: true }
}

const fn bytes(variable: &'static str, name: &'static str) -> StatusVariable {
    StatusVariable { variable, name, unit: "B/s", cumulative: true }
}

/// Milliseconds spent per second.
const fn busy(variable: &'static str, name: &'static str) -> StatusVariable {
    StatusVariable { variable, name, unit: "ms/s", cumulative: true }
}

const fn level(variable: &'static str, name: &'static str, unit: &'static str) -> StatusVariable {
    StatusVariable { variable, name, unit, cumulative: false }
}

/// Series of blocks that were asked for and found: the server counts those asked for, found or not.
pub(super) const HITS: &str = "block_hits";
/// Series of blocks that were read.
pub(super) const READS: &str = "block_reads";

/// All of them. Commits and rollbacks are statements, those inside of routines included; what commits by itself is not among them.
pub(super) const COUNTERS: &[StatusVariable] = &[
    events("com_commit", "commits"),
    events("com_rollback", "rollbacks"),
    events("innodb_buffer_pool_reads", READS),
    events("innodb_buffer_pool_read_requests", HITS),
    events("innodb_buffer_pool_pages_flushed", "blocks_flushed"),
    events("innodb_buffer_pool_wait_free", "waits_for_free_blocks"),
    level("innodb_buffer_pool_pages_dirty", "dirty_blocks", "blocks"),
    level("innodb_buffer_pool_pages_data", "blocks_with_data", "blocks"),
    level("innodb_buffer_pool_pages_total", "blocks", "blocks"),
    events("innodb_rows_read", "rows_read"),
    events("innodb_rows_inserted", "rows_inserted"),
    events("innodb_rows_updated", "rows_updated"),
    events("innodb_rows_deleted", "rows_deleted"),
    bytes("innodb_data_read", "data_read_bytes"),
    bytes("innodb_data_written", "data_written_bytes"),
    events("innodb_data_reads", "data_reads"),
    events("innodb_data_writes", "data_writes"),
    events("innodb_data_fsyncs", "data_syncs"),
    events("innodb_dblwr_pages_written", "doublewrite_blocks"),
    bytes("innodb_os_log_written", "log_bytes"),
    events("innodb_log_waits", "log_buffer_waits"),
    events("innodb_log_writes", "log_writes"),
    level("innodb_checkpoint_age", "checkpoint_age", "B"),
    level("innodb_checkpoint_max_age", "checkpoint_age_limit", "B"),
    events("innodb_row_lock_waits", "lock_waits"),
    busy("innodb_row_lock_time", "lock_wait_time"),
    level("innodb_row_lock_current_waits", "waiting_for_locks", "sessions"),
    events("innodb_deadlocks", "deadlocks"),
    level("innodb_history_list_length", "transactions_to_purge", "transactions"),
    level("threads_running", "running_sessions", "sessions"),
    level("threads_connected", "connected_sessions", "sessions"),
    events("aborted_clients", "aborted_sessions"),
    bytes("bytes_received", "network_received"),
    bytes("bytes_sent", "network_sent"),
    events("created_tmp_disk_tables", "temporary_tables_on_disk"),
    level("memory_used", "memory_allocated", "B"),
];

/// What sessions do that have a statement under way, in the server's words; those of observers are not counted.
pub(super) const WAITS: &str = "SELECT coalesce(nullif(state, ''), 'running'), count(*) FROM information_schema.processlist \
     WHERE command IN ('Query', 'Execute') AND id <> connection_id() GROUP BY 1 ORDER BY 1";

/// Threads by their numbers at the kernel: sessions by the process list; all others only where the performance schema is on.
pub(super) const THREADS: &str = "SELECT tid, CASE WHEN id = connection_id() THEN 'observer' \
     WHEN command IN ('Binlog Dump', 'Slave_IO', 'Slave_SQL', 'Slave_worker') THEN lower(replace(command, ' ', '_')) ELSE 'session' END \
     FROM information_schema.processlist WHERE tid > 0 \
     UNION ALL SELECT thread_os_id, substring_index(name, '/', -1) FROM performance_schema.threads \
     WHERE thread_os_id IS NOT NULL AND processlist_id IS NULL";
