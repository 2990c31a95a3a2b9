SELECT CAST(a.replica_server_name AS varchar(256)) COLLATE DATABASE_DEFAULT,
       CAST(CASE WHEN a.replica_id = l.replica_id THEN 1 ELSE 0 END AS bigint), CAST(COALESCE(s.role, 0) AS bigint),
       CAST(COALESCE(s.connected_state, 0) AS bigint), CAST(a.availability_mode AS bigint), CAST(COALESCE(d.synchronization_state, 0) AS bigint),
       CAST(COALESCE(d.is_suspended, 0) AS bigint), CAST(COALESCE(d.is_commit_participant, 0) AS bigint),
       CAST(COALESCE(d.log_send_queue_size, 0) AS bigint), CAST(COALESCE(d.redo_queue_size, 0) AS bigint),
       CAST(COALESCE(g.required_synchronized_secondaries_to_commit, 0) AS bigint),
       (SELECT CAST(MAX(c.cntr_value) AS bigint) FROM sys.dm_os_performance_counters c
         WHERE RTRIM(c.counter_name) = 'Log Bytes Flushed/sec' AND RTRIM(c.instance_name) = DB_NAME() COLLATE DATABASE_DEFAULT)
  FROM sys.dm_hadr_database_replica_states l
  JOIN sys.availability_groups g ON g.group_id = l.group_id
  JOIN sys.availability_replicas a ON a.group_id = l.group_id
  LEFT JOIN sys.dm_hadr_availability_replica_states s ON s.replica_id = a.replica_id AND s.group_id = a.group_id
  LEFT JOIN sys.dm_hadr_database_replica_states d ON d.replica_id = a.replica_id AND d.group_database_id = l.group_database_id
 WHERE l.database_id = DB_ID() AND l.is_local = 1 AND a.availability_mode IN (0, 1)
 ORDER BY a.replica_server_name
