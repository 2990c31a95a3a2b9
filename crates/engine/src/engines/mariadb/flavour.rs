//! What MariaDB has otherwise than MySQL. Source: knowledge base, "Server System Variables", "InnoDB System Variables".

use super::page_flushing::LIVE_PAGE_FLUSHING;
use crate::contract::{LiveChange, LiveSetting, RightPurpose};
use crate::engines::counter::{Counter, events, level};
use crate::engines::mysql_family::{
    FamilyMember, Flavour, FlavourStatements, InstanceRecipe, MemoryShares, NeededRight, Privilege, ProgramNames,
    ReplicationWords, SeveralStatements, VersionedText, pipelining_setting,
};
use proofload_model::replication::Confirmation;
use std::time::Duration;

/// MariaDB.
#[derive(Debug)]
pub struct Mariadb;

impl FamilyMember for Mariadb {
    const FLAVOUR: &'static Flavour = &FLAVOUR;
}

/// What experiments change of a running server. The size of the log can be changed since 10.9; one that is much larger than the log of a visit
/// keeps the server from writing pages for the sake of its log, and one that is as large from the start leaves nothing to switch off. Source:
/// MariaDB manual, "innodb_log_file_size", "innodb_flush_log_at_trx_commit", "Setting InnoDB Buffer Pool Size Dynamically".
const LIVE: &[LiveSetting] = &[
    LiveSetting {
        resource: "engine.cache",
        change: LiveChange::Size("innodb_buffer_pool_size"),
        settles: Duration::from_secs(6),
    },
    LiveSetting {
        resource: "engine.checkpoints",
        change: LiveChange::OffFrom("innodb_log_file_size", 256 << 20),
        settles: Duration::from_secs(2),
    },
    LIVE_PAGE_FLUSHING,
    LiveSetting {
        resource: "engine.durability",
        change: LiveChange::Off(&[("innodb_flush_log_at_trx_commit", "2")]),
        settles: Duration::from_secs(1),
    },
];

/// Roles that its process list tells, as the statement for threads names them, and the writer of changed pages.
const ROLES: &[&str] = &["session", "binlog_dump", "slave_io", "slave_sql", "slave_worker", "page_cleaner_thread"];

/// What it has otherwise.
pub(in crate::engines) static FLAVOUR: Flavour = Flavour {
    name: "mariadb",
    product: "MariaDB",
    title: "MariaDB, started locally or reached by URL",
    settings: &[pipelining_setting("mariadb")],
    version_word: Some("MariaDB"),
    oldest: &[],
    client_group: "[client-mariadb]",
    change_method: "ALTER USER … IDENTIFIED VIA mysql_native_password USING PASSWORD('…')",
    several: SeveralStatements::Block,
    programs: ProgramNames {
        server: "mariadbd",
        install: Some("mariadb-install-db"),
        folders: &[
            "/usr/sbin",
            "/usr/bin",
            "/usr/libexec",
            "/usr/local/mysql/bin",
            "/usr/local/mysql/scripts",
            "/opt/homebrew/opt/mariadb/bin",
        ],
        remedy: "install the server package (Debian: apt install mariadb-server-core mariadb-client-core; Red Hat: dnf install \
                 mariadb-server) or give engine.url",
    },
    instance: InstanceRecipe {
        create: &["--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve"],
        socket: "mariadbd.sock",
        process_file: "mariadbd.pid",
        defaults: DEFAULTS,
        log_size: "innodb_log_file_size",
        with_binary_log: FOLLOWED,
        ours: &["extra_port", "log_basename", "skip_slave_start"],
    },
    memory: MemoryShares {
        minimum_mib: 96,
        // 47 MiB of its own, seen on 10.11 without the performance schema, and its program.
        at_rest_mib: 64,
        caches: &[("aria_pagecache_buffer_size", "16M")],
        division: &[],
    },
    statements: FlavourStatements {
        setup: "SET NAMES utf8mb4 COLLATE utf8mb4_nopad_bin; \
            SET SESSION time_zone = '+00:00', sql_mode = 'STRICT_ALL_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE,ERROR_FOR_DIVISION_BY_ZERO,\
            ONLY_FULL_GROUP_BY,NO_ENGINE_SUBSTITUTION,NO_BACKSLASH_ESCAPES', autocommit = 1, lock_wait_timeout = 10; \
            SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
        texts: "CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin",
        mark_of: "schema_comment",
        create_marked: "CREATE DATABASE {database} {texts} COMMENT = '{mark}'",
        mark_empty: "ALTER DATABASE {database} {texts} COMMENT = '{mark}'",
        rights: "CREATE and ALTER",
        analyse: "ANALYZE TABLE {table} PERSISTENT FOR ALL",
        to_purge: "SELECT variable_value FROM information_schema.global_status WHERE variable_name = 'INNODB_HISTORY_LIST_LENGTH'",
        forget_log: VersionedText::always("RESET MASTER"),
        status: "SELECT variable_name, variable_value FROM information_schema.global_status WHERE variable_name IN ({names})",
        waits: "SELECT coalesce(nullif(state, ''), 'running'), count(*) FROM information_schema.processlist \
            WHERE command IN ('Query', 'Execute') AND id <> connection_id() GROUP BY 1 ORDER BY 1",
        // Sessions by the process list; all others only where the performance schema is on.
        threads: "SELECT tid, CASE WHEN id = connection_id() THEN 'observer' \
            WHEN command IN ('Binlog Dump', 'Slave_IO', 'Slave_SQL', 'Slave_worker') THEN lower(replace(command, ' ', '_')) ELSE 'session' END \
            FROM information_schema.processlist WHERE tid > 0 \
            UNION ALL SELECT thread_os_id, substring_index(name, '/', -1) FROM performance_schema.threads \
            WHERE thread_os_id IS NOT NULL AND processlist_id IS NULL",
        settings: "SELECT lower(variable_name), coalesce(session_value, global_value), \
            variable_scope LIKE '%SESSION%' AND read_only = 'NO' FROM information_schema.system_variables",
        settings_source: "information_schema.system_variables",
        cap_observer: "SET SESSION max_statement_time = 1",
    },
    // A commit waits for the first standby that confirms; which one, and how many, cannot be chosen. The server's own client connects by TCP alone.
    replication: ReplicationWords {
        confirmations: &[Confirmation::Any(1)],
        settings: &[
            "server_id",
            "read_only",
            "report_host",
            "sync_relay_log",
            "rpl_semi_sync_master_enabled",
            "rpl_semi_sync_master_timeout",
            "rpl_semi_sync_master_wait_no_slave",
            "rpl_semi_sync_slave_enabled",
        ],
        waits: "rpl_semi_sync_master_enabled",
        timeout: "rpl_semi_sync_master_timeout",
        waits_unconnected: "rpl_semi_sync_master_wait_no_slave",
        count: None,
        confirms: "rpl_semi_sync_slave_enabled",
        is_active: "rpl_semi_sync_master_status",
        confirming: "rpl_semi_sync_master_clients",
        unconfirmed: "rpl_semi_sync_master_no_tx",
        read: "SELECT lower(variable_name), variable_value FROM information_schema.global_variables WHERE variable_name IN ({names}) \
            UNION ALL SELECT lower(variable_name), variable_value FROM information_schema.global_status WHERE variable_name IN ({names})",
        log_end: VersionedText::always("SHOW MASTER STATUS"),
        connected: "SHOW SLAVE HOSTS",
        standby_status: "SHOW SLAVE STATUS",
        received_id: 43,
        account: "CREATE OR REPLACE USER {account} IDENTIFIED BY {password}",
        closed: "SET sql_log_bin = 0;\nDELETE FROM mysql.global_priv WHERE User IN ('root', '') AND Host <> 'localhost';\nFLUSH PRIVILEGES;\n",
        follow: "CHANGE MASTER TO MASTER_HOST = '127.0.0.1', MASTER_PORT = {port}, MASTER_USER = {account}, MASTER_PASSWORD = {password}, \
            MASTER_USE_GTID = slave_pos, MASTER_CONNECT_RETRY = 1",
        start: "START SLAVE",
        stop: "STOP SLAVE",
        forget: "RESET SLAVE ALL",
        until_applied: "SELECT master_gtid_wait({transactions}, {seconds})",
        identity: None,
    },
    observed: OBSERVED,
    rights: RIGHTS,
    live: LIVE,
    roles: ROLES,
    counters: COUNTERS,
};

/// What an instance with a binary log has beside: it can be followed, and can follow.
const FOLLOWED: &[(&str, &str)] = &[
    ("log_slave_updates", "ON"),
    ("binlog_format", "ROW"),
    ("gtid_strict_mode", "ON"),
    ("skip_slave_start", "ON"),
    // A standby that is told to follow no more asks a primary that hangs to end its session, and waits so many seconds for that.
    ("rpl_semi_sync_slave_kill_conn_timeout", "1"),
];

/// Commits are durable: the log is written and synced with each. The redo log is large enough not to be what is measured, and the pool starts
/// cold. The performance schema costs some 100 MiB and is off unless a study asks for it.
const DEFAULTS: &[(&str, &str)] = &[
    ("collation_server", "utf8mb4_nopad_bin"),
    ("query_cache_type", "OFF"),
    // A row that others see was confirmed by a standby, where commits wait for one.
    ("rpl_semi_sync_master_wait_point", "AFTER_SYNC"),
];

/// Rights beside those of the family. The conditions of order entry are checked by temporary tables. Standbys are listed by `SHOW SLAVE HOSTS`.
const RIGHTS: &[NeededRight] = &[
    NeededRight::in_database("CREATE ROUTINE", &[Privilege::CreateRoutine], &[RightPurpose::RoutinesAndIndexes]),
    NeededRight::in_database("CREATE TEMPORARY TABLES", &[Privilege::CreateTemporaryTables], &[RightPurpose::Checks]),
    NeededRight::at_server("PROCESS", &[Privilege::Process], &[RightPurpose::Waits]),
    NeededRight::at_server(
        "BINLOG MONITOR",
        &[Privilege::ReplicationClient, Privilege::Super],
        &[RightPurpose::Standbys],
    ),
    NeededRight::at_server("REPLICATION MASTER ADMIN", &[Privilege::ReplicationMasterAdmin], &[RightPurpose::Standbys]),
    NeededRight::at_server("SUPER", &[Privilege::Super], &[RightPurpose::Settings]),
];

const OBSERVED: &[&str] = &[
    "innodb_log_file_size",
    "innodb_snapshot_isolation",
    "rpl_semi_sync_master_enabled",
    "rpl_semi_sync_master_wait_point",
    "slave_parallel_threads",
    "tx_isolation",
    "join_cache_level",
    "query_cache_type",
];

const COUNTERS: &[Counter] = &[
    level("innodb_checkpoint_age", "checkpoint_age", "B"),
    level("innodb_checkpoint_max_age", "checkpoint_age_limit", "B"),
    // Places in the log: where it ends, up to where it is flushed, and where a recovery would begin.
    level("innodb_lsn_current", "log_position", "B"),
    level("innodb_lsn_flushed", "log_position_flushed", "B"),
    level("innodb_lsn_last_checkpoint", "log_position_checkpoint", "B"),
    events("innodb_deadlocks", "deadlocks"),
    // What the storage engine is asked for: MariaDB does not count the rows of InnoDB.
    events("rows_read", "rows_read"),
    events("handler_write", "rows_inserted"),
    events("handler_update", "rows_updated"),
    events("handler_delete", "rows_deleted"),
    level("innodb_history_list_length", "transactions_to_purge", "transactions"),
    level("memory_used", "memory_allocated", "B"),
];
