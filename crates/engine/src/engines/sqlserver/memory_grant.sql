-- The group of the load is that of this session; the one that is set is the group `default`.
SELECT 'request_max_memory_grant_percent',
       CAST(f.request_max_memory_grant_percent_numeric AS varchar(20)) COLLATE DATABASE_DEFAULT
       + CASE f.name WHEN 'default' THEN '' ELSE ' in workload group ' + CAST(f.name AS varchar(128)) COLLATE DATABASE_DEFAULT END,
       'sys.dm_resource_governor_workload_groups'
  FROM sys.dm_exec_sessions s
  JOIN sys.dm_resource_governor_workload_groups f ON f.group_id = s.group_id
 WHERE s.session_id = @@SPID
UNION ALL
SELECT 'request_max_memory_grant_percent_stored',
       CAST(g.request_max_memory_grant_percent_numeric AS varchar(20)) COLLATE DATABASE_DEFAULT,
       'sys.resource_governor_workload_groups'
  FROM sys.resource_governor_workload_groups g
 WHERE g.name = 'default'
