SELECT 'instant_file_initialization', CASE s.instant_file_initialization_enabled WHEN 'Y' THEN 'ON' ELSE 'OFF' END, 'sys.dm_server_services'
  FROM sys.dm_server_services s
 WHERE s.servicename LIKE 'SQL Server (%'
