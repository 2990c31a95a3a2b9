SELECT 'memory_model', CAST(i.sql_memory_model_desc AS varchar(200)) COLLATE DATABASE_DEFAULT, 'sys.dm_os_sys_info'
  FROM sys.dm_os_sys_info i
