SELECT CASE (SELECT CAST(affinity_type AS int) FROM sys.dm_os_sys_info) WHEN 2 THEN 'AUTO'
       ELSE (SELECT string_agg(CAST(cpu_id AS varchar(8000)), ',') FROM sys.dm_os_schedulers WHERE status = 'VISIBLE ONLINE') END
