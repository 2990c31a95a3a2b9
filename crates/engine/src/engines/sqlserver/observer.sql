SELECT m.name, n.component, m.unit, m.total, CAST(c.cntr_value AS bigint) * m.factor
  FROM (VALUES
       ('Batch Requests/sec', 'batches', '', '1/s', 1, 1),
       ('Transactions/sec', 'commits', 'database', '1/s', 1, 1),
       ('SQL Compilations/sec', 'compilations', '', '1/s', 1, 1),
       ('Page life expectancy', 'page_life_expectancy', '', 's', 0, 1),
       ('Page lookups/sec', 'block_hits', '', '1/s', 1, 1),
       ('Page reads/sec', 'block_reads', '', '1/s', 1, 1),
       ('Page writes/sec', 'block_writes', '', '1/s', 1, 1),
       ('Readahead pages/sec', 'blocks_read_ahead', '', '1/s', 1, 1),
       ('Checkpoint pages/sec', 'blocks_checkpointed', '', '1/s', 1, 1),
       ('Lazy writes/sec', 'lazy_writes', '', '1/s', 1, 1),
       ('Log Bytes Flushed/sec', 'log_bytes', 'database', 'B/s', 1, 1),
       ('Log Flushes/sec', 'log_writes', 'database', '1/s', 1, 1),
       ('Log Flush Wait Time', 'log_flush_wait', 'database', 'ms', 0, 1),
       ('Lock Waits/sec', 'lock_waits', '_Total', '1/s', 1, 1),
       ('Number of Deadlocks/sec', 'deadlocks', '_Total', '1/s', 1, 1),
       ('Target Server Memory (KB)', 'memory_wanted', '', 'B', 0, 1024),
       ('Total Server Memory (KB)', 'memory_allocated', '', 'B', 0, 1024),
       ('Database pages', 'memory_buffer_pool', '', 'B', 0, 8192),
       ('Memory Grants Pending', 'memory_grants_pending', '', 'queries', 0, 1),
       ('Workfiles Created/sec', 'workfiles', '', '1/s', 1, 1),
       ('Worktables Created/sec', 'worktables', '', '1/s', 1, 1),
       ('Mirrored Write Transactions/sec', 'commits_sent', 'database', '1/s', 1, 1),
       ('Transaction Delay', 'commit_delay', 'database', 'ms/s', 1, 1)
       ) m (counter, name, instance, unit, total, factor)
  CROSS APPLY (SELECT CASE m.instance WHEN 'database' THEN DB_NAME() ELSE m.instance END AS instance) w
  JOIN sys.dm_os_performance_counters c ON RTRIM(c.counter_name) = m.counter COLLATE DATABASE_DEFAULT
   AND RTRIM(c.instance_name) = w.instance COLLATE DATABASE_DEFAULT
  CROSS APPLY (SELECT '' AS component) n
 WHERE c.object_name NOT LIKE '%:Buffer Node%'
UNION ALL
SELECT 'memory_in_use', '', 'B', 0, CAST(physical_memory_in_use_kb AS bigint) * 1024
  FROM sys.dm_os_process_memory
UNION ALL
SELECT v.name, CASE f.type WHEN 1 THEN 'log' ELSE 'data' END, v.unit, 1, SUM(CAST(v.value AS bigint))
  FROM sys.dm_io_virtual_file_stats(DB_ID(), NULL) s
  JOIN sys.database_files f ON f.file_id = s.file_id
  CROSS APPLY (VALUES
       ('file_read_bytes', 'B/s', s.num_of_bytes_read), ('file_written_bytes', 'B/s', s.num_of_bytes_written),
       ('file_reads', '1/s', s.num_of_reads), ('file_writes', '1/s', s.num_of_writes),
       ('file_read_stall', 'ms/s', s.io_stall_read_ms), ('file_write_stall', 'ms/s', s.io_stall_write_ms)) v (name, unit, value)
 GROUP BY v.name, v.unit, CASE f.type WHEN 1 THEN 'log' ELSE 'data' END
UNION ALL
SELECT v.name, CAST(s.wait_type AS varchar(60)) COLLATE DATABASE_DEFAULT, v.unit, 1, CAST(v.value AS bigint)
  FROM sys.dm_os_wait_stats s
  CROSS APPLY (VALUES ('wait_time', 'ms/s', s.wait_time_ms), ('waits', '1/s', s.waiting_tasks_count)) v (name, unit, value)
 -- A kind that has not waited yet is told once it has, so that its first waits are lost but for those kinds that are told from the start.
 WHERE (s.waiting_tasks_count > 0 OR s.wait_type IN ('WRITELOG', 'PAGEIOLATCH_SH', 'PAGEIOLATCH_EX', 'PAGEIOLATCH_UP', 'PAGELATCH_SH',
       'PAGELATCH_EX', 'PAGELATCH_UP', 'LCK_M_S', 'LCK_M_U', 'LCK_M_X', 'LCK_M_IX', 'LCK_M_IS', 'SOS_SCHEDULER_YIELD', 'CXPACKET',
       'CXCONSUMER', 'RESOURCE_SEMAPHORE', 'LOGBUFFER', 'IO_COMPLETION', 'HADR_SYNC_COMMIT', 'HADR_GROUP_COMMIT',
       'HADR_LOGCAPTURE_WAIT', 'HADR_LOGCAPTURE_SYNC', 'HADR_DATABASE_FLOW_CONTROL', 'HADR_TRANSPORT_FLOW_CONTROL', 'ASYNC_NETWORK_IO',
       'THREADPOOL'))
   -- Work that has nothing to do: what waits for a queue, a timer or the next request.
   AND s.wait_type NOT LIKE 'SLEEP[_]%' AND s.wait_type NOT LIKE 'BROKER[_]%' AND s.wait_type NOT LIKE 'XE[_]%'
   AND s.wait_type NOT LIKE 'QDS[_]%' AND s.wait_type NOT LIKE 'WAIT[_]XTP[_]%' AND s.wait_type NOT LIKE 'SQLTRACE[_]%'
   AND s.wait_type NOT IN ('CHECKPOINT_QUEUE', 'CHKPT', 'CLR_AUTO_EVENT', 'CLR_MANUAL_EVENT', 'CLR_SEMAPHORE', 'DBMIRROR_DBM_EVENT',
       'DBMIRROR_EVENTS_QUEUE', 'DBMIRROR_WORKER_QUEUE', 'DBMIRRORING_CMD', 'DIRTY_PAGE_POLL', 'DISPATCHER_QUEUE_SEMAPHORE',
       'FSAGENT', 'FT_IFTS_SCHEDULER_IDLE_WAIT', 'FT_IFTSHC_MUTEX', 'HADR_CLUSAPI_CALL', 'HADR_FILESTREAM_IOMGR_IOCOMPLETION',
       'HADR_NOTIFICATION_DEQUEUE', 'HADR_TIMER_TASK', 'HADR_WORK_QUEUE', 'KSOURCE_WAKEUP', 'LAZYWRITER_SLEEP', 'LOGMGR_QUEUE',
       'ONDEMAND_TASK_QUEUE', 'PARALLEL_REDO_DRAIN_WORKER', 'PARALLEL_REDO_WORKER_WAIT_WORK', 'PVS_PREALLOCATE',
       'PWAIT_ALL_COMPONENTS_INITIALIZED', 'PWAIT_DIRECTLOGCONSUMER_GETNEXT', 'PWAIT_EXTENSIBILITY_CLEANUP_TASK',
       'REDO_THREAD_PENDING_WORK', 'REQUEST_FOR_DEADLOCK_SEARCH', 'RESOURCE_QUEUE', 'SERVER_IDLE_CHECK', 'SNI_HTTP_ACCEPT',
       'SOS_WORK_DISPATCHER', 'SP_SERVER_DIAGNOSTICS_SLEEP', 'VDI_CLIENT_OTHER', 'WAIT_FOR_RESULTS', 'WAITFOR',
       'WAITFOR_TASKSHUTDOWN')
UNION ALL
SELECT 'active_sessions', CAST(COALESCE(r.wait_type, r.status) AS varchar(60)) COLLATE DATABASE_DEFAULT, 'sessions', 0, CAST(COUNT(*) AS bigint)
  FROM sys.dm_exec_requests r
  JOIN sys.dm_exec_sessions s ON s.session_id = r.session_id
 WHERE s.is_user_process = 1 AND s.program_name = 'proofload' AND r.database_id = DB_ID()
 GROUP BY COALESCE(r.wait_type, r.status)
