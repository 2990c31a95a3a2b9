SELECT v.name, CAST(a.replica_server_name AS varchar(256)) COLLATE DATABASE_DEFAULT, v.unit, 0, v.value
  FROM sys.dm_hadr_database_replica_states l
  JOIN sys.dm_hadr_database_replica_states d ON d.group_database_id = l.group_database_id AND d.is_local = 0
  JOIN sys.availability_replicas a ON a.replica_id = d.replica_id AND a.group_id = d.group_id
 CROSS APPLY (VALUES
       ('log_send_queue', 'B', CAST(d.log_send_queue_size AS bigint) * 1024),
       ('log_send_rate', 'B/s', CAST(d.log_send_rate AS bigint) * 1024),
       ('redo_queue', 'B', CAST(d.redo_queue_size AS bigint) * 1024),
       ('redo_rate', 'B/s', CAST(d.redo_rate AS bigint) * 1024),
       ('commit_lag', 'ms', CASE WHEN d.last_commit_time >= l.last_commit_time THEN CAST(0 AS bigint)
            ELSE CAST(DATEDIFF_BIG(millisecond, d.last_commit_time, l.last_commit_time) AS bigint) END),
       ('secondary_lag', 's', CAST(d.secondary_lag_seconds AS bigint)),
       ('synchronous_commit', '', CAST(a.availability_mode AS bigint)),
       ('synchronization_state', '', CAST(d.synchronization_state AS bigint)),
       ('synchronization_health', '', CAST(d.synchronization_health AS bigint))) v (name, unit, value)
 WHERE l.database_id = DB_ID() AND l.is_local = 1
