//! What MySQL has otherwise than MariaDB. Source: MySQL 9.7 reference manual, "Server System Variables", "InnoDB Startup Options and System
//! Variables", "Performance Schema System Variable Tables", "Semisynchronous Replication", "CHANGE REPLICATION SOURCE TO Statement".

use crate::contract::RightPurpose;
use crate::engines::counter::{Counter, events, level};
use crate::engines::mysql_family::{
    FamilyMember, Flavour, FlavourStatements, InstanceRecipe, MemoryShares, NeededRight, OldestVersion, PoolDivision,
    Privilege, ProgramNames, ReplicationWords, ServerUse, ServerVersion, SeveralStatements, VersionedText,
    pipelining_setting,
};
use proofload_model::replication::Confirmation;

/// MySQL.
#[derive(Debug)]
pub struct Mysql;

impl FamilyMember for Mysql {
    const FLAVOUR: &'static Flavour = &FLAVOUR;
}

/// What it has otherwise.
pub(in crate::engines) static FLAVOUR: Flavour = Flavour {
    name: "mysql",
    product: "MySQL",
    title: "MySQL, started locally or reached by URL",
    settings: &[pipelining_setting("mysql")],
    version_word: None,
    oldest: OLDEST,
    client_group: "[mysql]",
    change_method: "ALTER USER … IDENTIFIED WITH caching_sha2_password BY '…'",
    several: SeveralStatements::Parts,
    programs: ProgramNames {
        server: "mysqld",
        install: None,
        folders: &[
            "/usr/sbin",
            "/usr/local/sbin",
            "/usr/bin",
            "/usr/libexec",
            "/usr/local/mysql/bin",
            "/opt/homebrew/opt/mysql/bin",
        ],
        remedy: "install MySQL's server (its APT or YUM repository: mysql-community-server-core) or give engine.url",
    },
    instance: InstanceRecipe {
        // A data folder that is being made is synced when it is done; a crash before leaves none.
        create: &[
            "--initialize-insecure",
            "--skip-log-bin",
            "--performance-schema=OFF",
            "--innodb-doublewrite=OFF",
            "--innodb-flush-log-at-trx-commit=0",
        ],
        socket: "mysqld.sock",
        process_file: "mysqld.pid",
        defaults: DEFAULTS,
        log_size: "innodb_redo_log_capacity",
        with_binary_log: &[
            ("gtid_mode", "ON"),
            ("enforce_gtid_consistency", "ON"),
            ("plugin_load_add", "semisync_source.so;semisync_replica.so"),
            ("skip_replica_start", "ON"),
        ],
        ours: &[
            "admin_address",
            "admin_port",
            "early_plugin_load",
            "initialize",
            "initialize_insecure",
            "mandatory_roles",
            "mysqlx",
            "mysqlx_bind_address",
            "mysqlx_port",
            "mysqlx_socket",
            "skip_replica_start",
            "skip_slave_start",
        ],
    },
    memory: MemoryShares {
        minimum_mib: 288,
        // 150 MiB of its own, seen on 9.7 without the performance schema, the log's buffer, and what it keeps of its program.
        at_rest_mib: 200,
        caches: &[("temptable_max_ram", "16M"), ("table_definition_cache", "400")],
        // A size between two multiples would be rounded up, beyond what the limit leaves.
        division: &[
            PoolDivision { from_mib: 8 << 10, chunk_mib: 128, instances: 4 },
            PoolDivision { from_mib: 1 << 10, chunk_mib: 16, instances: 4 },
            PoolDivision { from_mib: 0, chunk_mib: 16, instances: 1 },
        ],
    },
    statements: FlavourStatements {
        // Sizes of tables are asked of the server's own and not of what it kept of them a day ago.
        setup: "SET NAMES utf8mb4 COLLATE utf8mb4_0900_bin; \
            SET SESSION time_zone = '+00:00', sql_mode = 'STRICT_ALL_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE,ERROR_FOR_DIVISION_BY_ZERO,\
            ONLY_FULL_GROUP_BY,NO_ENGINE_SUBSTITUTION,NO_BACKSLASH_ESCAPES', autocommit = 1, information_schema_stats_expiry = 0, \
            lock_wait_timeout = 10; \
            SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED",
        texts: "CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin",
        // A database has no comment, so the comment on a routine in it is the mark.
        mark_of: "coalesce((SELECT routine_comment FROM information_schema.routines \
            WHERE routine_schema = schema_name AND routine_name = 'proofload_mark'), '')",
        create_marked: "CREATE DATABASE {database} {texts}; CREATE PROCEDURE {database}.proofload_mark() COMMENT '{mark}' DO 0",
        mark_empty: "ALTER DATABASE {database} {texts}; DROP PROCEDURE IF EXISTS {database}.proofload_mark; \
            CREATE PROCEDURE {database}.proofload_mark() COMMENT '{mark}' DO 0",
        rights: "CREATE, ALTER, CREATE ROUTINE and ALTER ROUTINE",
        analyse: "ANALYZE TABLE {table}",
        to_purge: "SELECT count FROM information_schema.innodb_metrics WHERE name = 'trx_rseg_history_len'",
        forget_log: VersionedText { first: "RESET MASTER", later: &[(LOG_STATEMENTS, "RESET BINARY LOGS AND GTIDS")] },
        // Numbers of commands are in none of the tables. The metrics come last: an account may not read them.
        status: "SHOW GLOBAL STATUS WHERE variable_name IN ({names}); \
            SELECT 'log_checkpoint_age', sum(CASE variable_name WHEN 'Innodb_redo_log_current_lsn' THEN 1 ELSE -1 END * \
            CAST(variable_value AS SIGNED)) FROM performance_schema.global_status \
            WHERE variable_name IN ('Innodb_redo_log_current_lsn', 'Innodb_redo_log_checkpoint_lsn'); \
            SELECT name, count FROM information_schema.innodb_metrics WHERE status = 'enabled' AND name IN ({names})",
        waits: "SELECT coalesce(nullif(state, ''), 'running'), count(*) FROM information_schema.processlist \
            WHERE command IN ('Query', 'Execute') AND id <> connection_id() GROUP BY 1 ORDER BY 1",
        // The process list has no numbers of threads: without the performance schema no role is told.
        threads: "SELECT thread_os_id, CASE WHEN processlist_id = connection_id() THEN 'observer' \
            WHEN name = 'thread/sql/one_connection' THEN 'session' ELSE substring_index(name, '/', -1) END \
            FROM performance_schema.threads WHERE thread_os_id IS NOT NULL",
        // What a session may set is in a table that few accounts may read: each is tried.
        settings: "SELECT lower(variable_name), variable_value, 1 FROM performance_schema.session_variables",
        settings_source: "performance_schema.session_variables",
        cap_observer: "SET SESSION max_execution_time = 1000",
    },
    // A password over TCP takes the server's public key, which is asked for; what follows is not encrypted.
    replication: ReplicationWords {
        confirmations: &[Confirmation::Any(1), Confirmation::Any(2), Confirmation::Any(3)],
        settings: &[
            "server_id",
            "read_only",
            "report_host",
            "sync_relay_log",
            "rpl_semi_sync_source_enabled",
            "rpl_semi_sync_source_timeout",
            "rpl_semi_sync_source_wait_for_replica_count",
            "rpl_semi_sync_source_wait_no_replica",
            "rpl_semi_sync_replica_enabled",
        ],
        waits: "rpl_semi_sync_source_enabled",
        timeout: "rpl_semi_sync_source_timeout",
        waits_unconnected: "rpl_semi_sync_source_wait_no_replica",
        count: Some("rpl_semi_sync_source_wait_for_replica_count"),
        confirms: "rpl_semi_sync_replica_enabled",
        is_active: "rpl_semi_sync_source_status",
        confirming: "rpl_semi_sync_source_clients",
        unconfirmed: "rpl_semi_sync_source_no_tx",
        read: "SELECT lower(variable_name), variable_value FROM performance_schema.global_variables WHERE variable_name IN ({names}) \
            UNION ALL SELECT lower(variable_name), variable_value FROM performance_schema.global_status WHERE variable_name IN ({names})",
        log_end: VersionedText { first: "SHOW MASTER STATUS", later: &[(LOG_STATEMENTS, "SHOW BINARY LOG STATUS")] },
        connected: "SHOW REPLICAS",
        standby_status: "SHOW REPLICA STATUS",
        received_id: 51,
        account: "DROP USER IF EXISTS {account}; CREATE USER {account} IDENTIFIED BY {password}",
        // Its only account is root's, at this host alone.
        closed: "SET sql_log_bin = 0;\n",
        follow: "CHANGE REPLICATION SOURCE TO SOURCE_HOST = '127.0.0.1', SOURCE_PORT = {port}, SOURCE_USER = {account}, \
            SOURCE_PASSWORD = {password}, SOURCE_SSL = 0, GET_SOURCE_PUBLIC_KEY = 1, SOURCE_AUTO_POSITION = 1, SOURCE_CONNECT_RETRY = 1",
        start: "START REPLICA",
        stop: "STOP REPLICA",
        forget: "RESET REPLICA ALL",
        until_applied: "SELECT WAIT_FOR_EXECUTED_GTID_SET({transactions}, {seconds})",
        identity: Some("auto.cnf"),
    },
    observed: OBSERVED,
    rights: RIGHTS,
    // Its own are not tried on a real server.
    live: &[],
    // Of others there are many with names near each other, which differ between versions.
    roles: &["session"],
    counters: COUNTERS,
};

/// The first version whose statements name the binary log; until 8.0 they name a master, from 8.4 on no more. Source: MySQL 8.1 and 8.4
/// reference manuals, "SHOW BINARY LOG STATUS", "RESET BINARY LOGS AND GTIDS"; version reference, "Changes for MySQL 8.2".
const LOG_STATEMENTS: ServerVersion = ServerVersion(8, 2, 0);

/// What the texts of this file need, and since when it is there. Source: release notes of 8.0.17; MySQL 8.0 reference manual, "Configuring
/// Semisynchronous Replication", "SHOW REPLICAS" (8.0.22), "CHANGE REPLICATION SOURCE TO" (8.0.23), "Redo Log".
const OLDEST: &[OldestVersion] = &[
    OldestVersion {
        wanted_for: ServerUse::Sessions,
        version: ServerVersion(8, 0, 17),
        has: "the collation utf8mb4_0900_bin",
    },
    OldestVersion {
        wanted_for: ServerUse::Standbys,
        version: ServerVersion(8, 0, 26),
        has: "SHOW REPLICAS and the settings rpl_semi_sync_source_…",
    },
    OldestVersion {
        wanted_for: ServerUse::Instance,
        version: ServerVersion(8, 0, 30),
        has: "the setting innodb_redo_log_capacity",
    },
];

/// Commits are durable: the log is written and synced with each. The redo log is large enough not to be what is measured, and the pool starts
/// cold. The performance schema costs some 150 MiB and is off unless a study asks for it.
const DEFAULTS: &[(&str, &str)] = &[
    ("collation_server", "utf8mb4_0900_bin"),
    ("mysqlx", "OFF"),
    ("secure_file_priv", "NULL"),
    ("innodb_adaptive_hash_index", "OFF"),
    ("innodb_change_buffering", "none"),
    ("innodb_dedicated_server", "OFF"),
];

/// Rights beside those of the family. The mark on a database is a routine. Without `PROCESS` no metrics of InnoDB are read, among them what is
/// left to purge. Standbys are listed by `SHOW REPLICAS`.
const RIGHTS: &[NeededRight] = &[
    NeededRight::in_database("CREATE ROUTINE", &[Privilege::CreateRoutine], &[RightPurpose::Build]),
    NeededRight::at_server(
        "PROCESS",
        &[Privilege::Process],
        &[RightPurpose::Settle, RightPurpose::Counters, RightPurpose::Waits],
    ),
    NeededRight::at_server(
        "REPLICATION CLIENT",
        &[Privilege::ReplicationClient, Privilege::Super],
        &[RightPurpose::Standbys],
    ),
    NeededRight::at_server("REPLICATION SLAVE", &[Privilege::ReplicationSlave], &[RightPurpose::Standbys]),
    NeededRight::at_server(
        "SESSION_VARIABLES_ADMIN",
        &[Privilege::SessionVariablesAdmin, Privilege::SystemVariablesAdmin, Privilege::Super],
        &[RightPurpose::Settings],
    ),
];

const OBSERVED: &[&str] = &[
    "innodb_redo_log_capacity",
    "innodb_adaptive_hash_index",
    "innodb_change_buffering",
    "innodb_dedicated_server",
    "innodb_use_fdatasync",
    "gtid_mode",
    "rpl_semi_sync_source_enabled",
    "rpl_semi_sync_source_wait_point",
    "replica_parallel_workers",
    "optimizer_switch",
    "temptable_max_ram",
];

const COUNTERS: &[Counter] = &[
    level("log_checkpoint_age", "checkpoint_age", "B"),
    level("innodb_redo_log_capacity_resized", "log_capacity", "B"),
    events("lock_deadlocks", "deadlocks"),
    events("innodb_rows_read", "rows_read"),
    events("innodb_rows_inserted", "rows_inserted"),
    events("innodb_rows_updated", "rows_updated"),
    events("innodb_rows_deleted", "rows_deleted"),
    level("trx_rseg_history_len", "transactions_to_purge", "transactions"),
];
