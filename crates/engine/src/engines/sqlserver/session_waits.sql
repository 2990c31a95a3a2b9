SELECT CAST(w.wait_type AS varchar(60)) COLLATE DATABASE_DEFAULT, CAST(n.sessions AS varchar(40)) COLLATE DATABASE_DEFAULT,
       CAST(i.ms_ticks AS bigint), CAST(0 AS bigint), SUM(CAST(w.waiting_tasks_count AS bigint)), SUM(CAST(w.wait_time_ms AS bigint))
  FROM sys.dm_exec_session_wait_stats w
  JOIN sys.dm_exec_sessions s ON s.session_id = w.session_id
 -- Another set of sessions has another sum: their number and a sum of their numbers and logins tell one set from the next.
 CROSS JOIN (SELECT CONCAT(COUNT(*), ' ', CHECKSUM_AGG(CHECKSUM(session_id, login_time))) AS sessions
               FROM sys.dm_exec_sessions
              WHERE is_user_process = 1 AND program_name = 'proofload' AND database_id = DB_ID()) n
 CROSS JOIN sys.dm_os_sys_info i
 WHERE s.is_user_process = 1 AND s.program_name = 'proofload' AND s.database_id = DB_ID()
 GROUP BY w.wait_type, n.sessions, i.ms_ticks
