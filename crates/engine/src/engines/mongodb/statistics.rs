//! What an observer reads of `serverStatus`, as a table. What a server does not tell is left out.
//! Source: MongoDB manual, "serverStatus", 4.2 to 8.0.

use crate::engines::counter::{Counter, bytes, events, level, total};

/// Microseconds spent per second.
const fn busy(path: &'static str, name: &'static str) -> Counter {
    total(path, name, "us/s")
}

/// All of them, by where they stand: names with dots between them.
pub(super) const COUNTERS: &[Counter] = &[
    events("opcounters.query", "finds"),
    events("opcounters.insert", "inserts"),
    events("opcounters.update", "updates"),
    events("opcounters.delete", "deletes"),
    events("opcounters.getmore", "cursor_reads"),
    events("opcounters.command", "commands"),
    events("metrics.commands.find.total", "find_commands"),
    events("metrics.commands.find.failed", "find_commands_failed"),
    events("metrics.commands.insert.total", "insert_commands"),
    events("metrics.commands.insert.failed", "insert_commands_failed"),
    events("metrics.commands.update.total", "update_commands"),
    events("metrics.commands.update.failed", "update_commands_failed"),
    events("metrics.document.returned", "documents_returned"),
    events("metrics.operation.writeConflicts", "write_conflicts"),
    busy("opLatencies.reads.latency", "read_time"),
    busy("opLatencies.writes.latency", "write_time"),
    bytes("network.bytesIn", "network_received"),
    bytes("network.bytesOut", "network_sent"),
    level("connections.current", "connections", "connections"),
    level("connections.active", "active_connections", "connections"),
    level("globalLock.currentQueue.readers", "queued_readers", "operations"),
    level("globalLock.currentQueue.writers", "queued_writers", "operations"),
    bytes("wiredTiger.cache.bytes read into cache", "cache_read_bytes"),
    bytes("wiredTiger.cache.bytes written from cache", "cache_written_bytes"),
    events("wiredTiger.cache.pages read into cache", "cache_pages_read"),
    events("wiredTiger.cache.pages written from cache", "cache_pages_written"),
    events("wiredTiger.cache.pages requested from the cache", "cache_page_requests"),
    events("wiredTiger.cache.modified pages evicted", "cache_modified_evictions"),
    events("wiredTiger.cache.unmodified pages evicted", "cache_unmodified_evictions"),
    level("wiredTiger.cache.bytes currently in the cache", "cache_used", "B"),
    level("wiredTiger.cache.tracked dirty bytes in the cache", "cache_dirty", "B"),
    level("wiredTiger.cache.maximum bytes configured", "cache_size", "B"),
    bytes("wiredTiger.log.log bytes written", "journal_bytes"),
    events("wiredTiger.log.log sync operations", "journal_syncs"),
    events("wiredTiger.transaction.transaction checkpoints", "checkpoints"),
    level("wiredTiger.transaction.transaction checkpoint currently running", "checkpoint_running", "checkpoints"),
];
