SELECT 'online_schedulers', CAST(count(*) AS varchar(20)), 'sys.dm_os_schedulers'
  FROM sys.dm_os_schedulers
 WHERE status = 'VISIBLE ONLINE'
