//! What an observer reads of the server's status, as a table. What a server does not tell is left out. Source: knowledge base, "Server Status
//! Variables" and "InnoDB Status Variables".

use crate::engines::counter::{Counter, busy, bytes, events, level};

/// Series of blocks that were asked for and found: the server counts those asked for, found or not.
pub(super) const HITS: &str = "block_hits";
/// Series of blocks that were read.
pub(super) const READS: &str = "block_reads";

/// Numbers that every flavour has; see those of each. Commits and rollbacks are statements, those inside of routines included; what commits by itself is not among them.
pub(super) const COUNTERS: &[Counter] = &[
    events("com_commit", "commits"),
    events("com_rollback", "rollbacks"),
    events("innodb_buffer_pool_reads", READS),
    events("innodb_buffer_pool_read_requests", HITS),
    events("innodb_buffer_pool_pages_flushed", "blocks_flushed"),
    events("innodb_buffer_pool_wait_free", "waits_for_free_blocks"),
    level("innodb_buffer_pool_pages_dirty", "dirty_blocks", "blocks"),
    level("innodb_buffer_pool_pages_data", "blocks_with_data", "blocks"),
    level("innodb_buffer_pool_pages_total", "blocks", "blocks"),
    bytes("innodb_data_read", "data_read_bytes"),
    bytes("innodb_data_written", "data_written_bytes"),
    events("innodb_data_reads", "data_reads"),
    events("innodb_data_writes", "data_writes"),
    events("innodb_data_fsyncs", "data_syncs"),
    events("innodb_dblwr_pages_written", "doublewrite_blocks"),
    bytes("innodb_os_log_written", "log_bytes"),
    events("innodb_log_waits", "log_buffer_waits"),
    events("innodb_log_writes", "log_writes"),
    events("innodb_row_lock_waits", "lock_waits"),
    busy("innodb_row_lock_time", "lock_wait_time"),
    level("innodb_row_lock_current_waits", "waiting_for_locks", "sessions"),
    level("threads_running", "running_sessions", "sessions"),
    level("threads_connected", "connected_sessions", "sessions"),
    events("aborted_clients", "aborted_sessions"),
    bytes("bytes_received", "network_received"),
    bytes("bytes_sent", "network_sent"),
    events("created_tmp_disk_tables", "temporary_tables_on_disk"),
];
