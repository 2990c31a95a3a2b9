SELECT CAST(g.name AS nvarchar(128)) COLLATE DATABASE_DEFAULT, CAST(a.replica_server_name AS nvarchar(256)) COLLATE DATABASE_DEFAULT,
       CAST(COALESCE(g.cluster_type, 0) AS bigint), CAST(COALESCE(s.role, 0) AS bigint), CAST(COALESCE(d.synchronization_state, 0) AS bigint),
       CAST(COALESCE(d.is_suspended, 0) AS bigint),
       CAST(COALESCE(RIGHT('0000000000000000000000000' + CAST(d.last_hardened_lsn AS varchar(25)), 25), '') AS varchar(25)),
       CAST(CASE WHEN CAST(DATABASEPROPERTYEX(N'{database}', 'Updateability') AS varchar(20)) = 'READ_WRITE' THEN 1 ELSE 0 END AS bigint),
       CONVERT(varchar(36), g.group_id),
       (SELECT CAST(COUNT(*) AS bigint) FROM sys.availability_databases_cluster x WHERE x.group_id = g.group_id),
       (SELECT CAST(COUNT(*) AS bigint) FROM sys.availability_replicas r WHERE r.group_id = g.group_id)
  FROM sys.availability_databases_cluster b
  JOIN sys.availability_groups g ON g.group_id = b.group_id
  JOIN sys.dm_hadr_availability_replica_states s ON s.group_id = g.group_id AND s.is_local = 1
  JOIN sys.availability_replicas a ON a.replica_id = s.replica_id AND a.group_id = g.group_id
  LEFT JOIN sys.dm_hadr_database_replica_states d ON d.group_database_id = b.group_database_id AND d.replica_id = s.replica_id
 WHERE b.database_name = N'{database}'
