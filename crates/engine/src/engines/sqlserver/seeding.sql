SELECT CAST(a.replica_server_name AS nvarchar(256)) COLLATE DATABASE_DEFAULT,
       CAST(COALESCE(p.transferred_size_bytes, 0) AS bigint), CAST(COALESCE(p.database_size_bytes, 0) AS bigint),
       CAST(CASE WHEN t.completion_time IS NULL THEN 0 ELSE 1 END AS bigint),
       CAST(COALESCE(t.current_state, '') AS nvarchar(60)) COLLATE DATABASE_DEFAULT,
       CAST(COALESCE(t.failure_state_desc, '') AS nvarchar(256)) COLLATE DATABASE_DEFAULT, CAST(COALESCE(t.error_code, 0) AS bigint),
       CAST(COALESCE(p.failure_message, '') AS nvarchar(1000)) COLLATE DATABASE_DEFAULT
  FROM sys.availability_databases_cluster b
  JOIN sys.availability_replicas a ON a.group_id = b.group_id
  LEFT JOIN sys.dm_hadr_database_replica_states d ON d.replica_id = a.replica_id AND d.group_database_id = b.group_database_id
 CROSS APPLY (SELECT TOP (1) o.operation_id, o.completion_time, o.current_state, o.failure_state_desc, o.error_code
                FROM sys.dm_hadr_automatic_seeding o
               WHERE o.ag_db_id = b.group_database_id AND o.ag_remote_replica_id = a.replica_id AND o.is_source = 1
               ORDER BY o.start_time DESC) t
 OUTER APPLY (SELECT TOP (1) x.transferred_size_bytes, x.database_size_bytes, x.failure_message
                FROM sys.dm_hadr_physical_seeding_stats x
               WHERE x.local_database_name = b.database_name
                 AND t.operation_id IN (x.local_physical_seeding_id, x.remote_physical_seeding_id)
               ORDER BY x.start_time_utc DESC) p
 WHERE b.database_name = DB_NAME() AND COALESCE(d.synchronization_state, 0) = 0
 ORDER BY a.replica_server_name
