SELECT CAST(o.name AS varchar(128)) COLLATE DATABASE_DEFAULT,
       CAST(CONCAT(p.object_id, ' ', CONVERT(varchar(130), p.plan_handle, 1), ' ', CONVERT(varchar(30), p.cached_time, 126))
           AS varchar(200)) COLLATE DATABASE_DEFAULT,
       CAST(i.ms_ticks AS bigint), CAST(DATEDIFF_BIG(millisecond, p.cached_time, GETDATE()) AS bigint),
       CAST(p.execution_count AS bigint), CAST(p.total_worker_time AS bigint), CAST(p.total_elapsed_time AS bigint),
       CAST(p.total_logical_reads AS bigint), CAST(p.total_physical_reads AS bigint)
  FROM sys.dm_exec_procedure_stats p
  JOIN sys.procedures o ON o.object_id = p.object_id
 CROSS JOIN sys.dm_os_sys_info i
 WHERE p.database_id = DB_ID()
