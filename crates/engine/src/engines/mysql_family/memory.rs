//! What a memory limit implies: the buffer pool is what is left of it, because with direct I/O nothing of the data lies in the page cache.

use super::flavour::FamilyMember;
use crate::contract::Memory;
use proofload_model::units::Bytes;

const MIB: u64 = 1 << 20;
/// What a session may take.
const SESSION_MIB: u64 = 2;
/// The smallest pool.
const LEAST_POOL_MIB: u64 = 16;
/// Blocks of a pool for each MiB.
const BLOCKS_PER_MIB: u64 = 64;
/// Connections kept free for the observer, checks and the conductor.
const SPARE_CONNECTIONS: u32 = 16;
/// Setting of the number of connections.
const MAX_CONNECTIONS: &str = "max_connections";
/// Memory limit for each connection that does no work: its buffer of 16 KiB is a small part of it.
/// Source: MySQL manual, `net_buffer_length`.
const BYTES_FOR_A_CONNECTION: u64 = 512 << 10;

impl<F: FamilyMember> Memory for F {
    fn settings(&self, memory: Bytes, sessions: u32) -> Vec<(String, String)> {
        self.settings_with_room(memory, sessions, 0)
    }

    /// The caches of other storage engines and of tables in memory are held small: by default they may take 256 MiB of a small limit.
    fn settings_with_room(&self, memory: Bytes, sessions: u32, more: u32) -> Vec<(String, String)> {
        let limit = memory.0 / MIB;
        let others = F::FLAVOUR.memory.at_rest_mib + u64::from(sessions) * SESSION_MIB + limit * 15 / 100;
        let pool = limit.saturating_sub(others).max(LEAST_POOL_MIB);
        let divided = F::FLAVOUR.memory.division.iter().find(|division| pool >= division.from_mib);
        let unit = divided.map_or(1, |division| division.chunk_mib * division.instances);
        let pool = (pool / unit * unit).max(LEAST_POOL_MIB);
        let division = divided.map(|division| {
            [
                ("innodb_buffer_pool_chunk_size", format!("{}M", division.chunk_mib)),
                ("innodb_buffer_pool_instances", division.instances.to_string()),
            ]
        });
        // So many blocks are kept free: by default 1,536, which is more than a small pool has.
        let free = (pool * BLOCKS_PER_MIB / 16).clamp(100, 1_536);
        let room = u64::from(more).min(memory.0 / BYTES_FOR_A_CONNECTION);
        [
            ("innodb_buffer_pool_size", format!("{pool}M")),
            ("innodb_lru_scan_depth", free.to_string()),
            ("innodb_log_buffer_size", "16M".to_owned()),
            ("key_buffer_size", "8M".to_owned()),
            ("tmp_table_size", "16M".to_owned()),
            ("max_heap_table_size", "16M".to_owned()),
            ("table_open_cache", "400".to_owned()),
            (MAX_CONNECTIONS, (u64::from(sessions + SPARE_CONNECTIONS) + room).to_string()),
        ]
        .into_iter()
        .chain(division.into_iter().flatten())
        .chain(F::FLAVOUR.memory.caches.iter().map(|&(name, value)| (name, value.to_owned())))
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
    }

    fn connections_setting(&self) -> Option<&'static str> {
        Some(MAX_CONNECTIONS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engines::mariadb::Mariadb;
    use crate::engines::mysql::Mysql;

    fn check(engine: &dyn Memory, memory: Bytes, sessions: u32, expected: &str) {
        let found = engine.settings(memory, sessions);
        let pool = found.iter().find(|(name, _)| name == "innodb_buffer_pool_size").map(|(_, value)| value.as_str());
        assert_eq!(pool, Some(expected));
    }

    #[test]
    fn a_memory_limit_leaves_room_for_the_server_and_for_sessions() {
        check(&Mariadb, Bytes::mebi(96), 2, "16M");
        check(&Mariadb, Bytes::mebi(192), 2, "96M");
        check(&Mariadb, Bytes::mebi(1024), 4, "799M");
        check(&Mariadb, Bytes::mebi(1024), 400, "16M");
        check(&Mysql, Bytes::mebi(288), 2, "32M");
        check(&Mysql, Bytes::mebi(1024), 4, "656M");
        check(&Mysql, Bytes::mebi(4096), 4, "3264M");
    }

    #[test]
    fn room_for_more_connections_is_as_large_as_the_limit_has_it_and_changes_nothing_else() {
        for engine in [&Mariadb as &dyn Memory, &Mysql] {
            let connections = |found: &[(String, String)]| -> Vec<String> {
                let of_it = found.iter().filter(|(name, _)| Some(name.as_str()) == engine.connections_setting());
                of_it.map(|(_, value)| value.clone()).collect()
            };
            let (without, with) =
                (engine.settings(Bytes::mebi(512), 8), engine.settings_with_room(Bytes::mebi(512), 8, 2_000));
            assert_eq!((connections(&without), connections(&with)), (vec!["24".to_owned()], vec!["1048".to_owned()]));
            assert_eq!(with.iter().zip(&without).filter(|(one, other)| one != other).count(), 1);
        }
    }
}
