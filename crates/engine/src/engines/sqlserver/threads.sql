SELECT CAST(t.os_thread_id AS bigint), CAST(t.kernel_time + t.usermode_time AS bigint),
       CAST(CASE WHEN t.worker_address IS NULL THEN 0 ELSE 1 END AS bigint),
       CAST(CASE WHEN s.is_user_process = 1 THEN COALESCE(s.program_name, '') END AS varchar(128)) COLLATE DATABASE_DEFAULT,
       CAST(r.command AS varchar(60)) COLLATE DATABASE_DEFAULT,
       CAST(COALESCE(r.wait_type, r.last_wait_type) AS varchar(60)) COLLATE DATABASE_DEFAULT
  FROM sys.dm_os_threads t
  LEFT JOIN sys.dm_os_workers w ON w.worker_address = t.worker_address
  LEFT JOIN sys.dm_os_tasks k ON k.task_address = w.task_address
  LEFT JOIN sys.dm_exec_sessions s ON s.session_id = k.session_id
  LEFT JOIN sys.dm_exec_requests r ON r.session_id = k.session_id AND r.request_id = k.request_id
