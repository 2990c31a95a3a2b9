//! The statistics that an observer reads, as a table. Versions differ in views and columns: those that a server lacks are left out.
//! Source: PostgreSQL manual, "The Cumulative Statistics System", 14 to 18.

use crate::engines::counter::{Counter, busy, bytes, events};

/// A statistics view.
#[derive(Debug, Clone, Copy)]
pub(super) struct View {
    /// Name in `pg_catalog`.
    pub(super) name: &'static str,
    /// SQL expression of the instance, text.
    pub(super) component: &'static str,
    /// SQL condition on its rows.
    pub(super) condition: &'static str,
    /// Whether the rows are added up.
    pub(super) total: bool,
    /// Its counters, by column.
    pub(super) counters: &'static [Counter],
}

/// All views.
pub(super) const VIEWS: &[View] = &[
    View {
        name: "pg_stat_database",
        component: "''",
        condition: "datname = current_database()",
        total: false,
        counters: &[
            events("xact_commit", "commits"),
            events("xact_rollback", "rollbacks"),
            events("blks_read", "block_reads"),
            events("blks_hit", "block_hits"),
            events("tup_returned", "rows_returned"),
            events("tup_fetched", "rows_fetched"),
            events("tup_inserted", "rows_inserted"),
            events("tup_updated", "rows_updated"),
            events("tup_deleted", "rows_deleted"),
            events("conflicts", "recovery_conflicts"),
            events("deadlocks", "deadlocks"),
            events("checksum_failures", "checksum_failures"),
            events("temp_files", "temporary_files"),
            bytes("temp_bytes", "temporary_bytes"),
            busy("blk_read_time", "block_read_time"),
            busy("blk_write_time", "block_write_time"),
        ],
    },
    View {
        name: "pg_stat_wal",
        component: "''",
        condition: "true",
        total: false,
        counters: &[
            events("wal_records", "wal_records"),
            events("wal_fpi", "wal_page_images"),
            bytes("wal_bytes", "wal_bytes"),
            events("wal_buffers_full", "wal_buffers_full"),
            events("wal_write", "wal_writes"),
            events("wal_sync", "wal_syncs"),
            busy("wal_write_time", "wal_write_time"),
            busy("wal_sync_time", "wal_sync_time"),
        ],
    },
    // From PostgreSQL 18 on, writes and flushes of the log are counted here, by process; before, no row is of the log.
    View {
        name: "pg_stat_io",
        component: "''",
        condition: "object = 'wal' AND context = 'normal'",
        total: true,
        counters: &[
            events("writes", "wal_writes"),
            events("fsyncs", "wal_syncs"),
            busy("write_time", "wal_write_time"),
            busy("fsync_time", "wal_sync_time"),
        ],
    },
    View {
        name: "pg_stat_bgwriter",
        component: "''",
        condition: "true",
        total: false,
        counters: &[
            events("checkpoints_timed", "checkpoints_timed"),
            events("checkpoints_req", "checkpoints_requested"),
            busy("checkpoint_write_time", "checkpoint_write_time"),
            busy("checkpoint_sync_time", "checkpoint_sync_time"),
            events("buffers_checkpoint", "checkpoint_buffers"),
            events("buffers_clean", "cleaner_buffers"),
            events("maxwritten_clean", "cleaner_stops"),
            events("buffers_backend", "backend_buffers"),
            events("buffers_backend_fsync", "backend_syncs"),
            events("buffers_alloc", "buffers_allocated"),
        ],
    },
    View {
        name: "pg_stat_checkpointer",
        component: "''",
        condition: "true",
        total: false,
        counters: &[
            events("num_timed", "checkpoints_timed"),
            events("num_requested", "checkpoints_requested"),
            busy("write_time", "checkpoint_write_time"),
            busy("sync_time", "checkpoint_sync_time"),
            events("buffers_written", "checkpoint_buffers"),
        ],
    },
    View {
        name: "pg_stat_io",
        component: "concat_ws('/', backend_type, object, context)",
        condition: "coalesce(reads, 0) + coalesce(writes, 0) + coalesce(extends, 0) + coalesce(hits, 0) > 0",
        total: false,
        counters: &[
            events("reads", "io_reads"),
            bytes("read_bytes", "io_read_bytes"),
            busy("read_time", "io_read_time"),
            events("writes", "io_writes"),
            bytes("write_bytes", "io_write_bytes"),
            busy("write_time", "io_write_time"),
            events("extends", "io_extends"),
            events("hits", "io_hits"),
            events("evictions", "io_evictions"),
            events("fsyncs", "io_syncs"),
            busy("fsync_time", "io_sync_time"),
        ],
    },
];

/// What active client sessions wait for; `running` are those that wait for nothing.
pub(super) const WAITS: &str = "SELECT coalesce(wait_event_type || ':' || wait_event, 'running'), count(*)::float8 \
     FROM pg_stat_activity WHERE backend_type = 'client backend' AND state = 'active' AND pid <> pg_backend_pid() \
     AND datname = current_database() GROUP BY 1 ORDER BY 1";

/// Columns that this server has of our views.
pub(super) const COLUMNS: &str = "SELECT c.relname::text, a.attname::text FROM pg_attribute a \
     JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace \
     WHERE n.nspname = 'pg_catalog' AND c.relname = ANY($1) AND a.attnum > 0 AND NOT a.attisdropped";
