SELECT (SELECT CAST(MAX(c.cntr_value) AS bigint) * 1024 FROM sys.dm_os_performance_counters c
         WHERE RTRIM(c.counter_name) = 'Total Server Memory (KB)'),
       (SELECT CAST(p.physical_memory_in_use_kb AS bigint) * 1024 FROM sys.dm_os_process_memory p)
