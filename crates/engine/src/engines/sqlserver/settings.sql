SELECT v.name, v.value, v.source
  FROM sys.databases d
 CROSS APPLY (VALUES
    ('delayed_durability', CAST(d.delayed_durability_desc AS varchar(200)) COLLATE DATABASE_DEFAULT, 'sys.databases'),
    ('recovery_model', CAST(d.recovery_model_desc AS varchar(200)) COLLATE DATABASE_DEFAULT, 'sys.databases'),
    ('compatibility_level', CAST(d.compatibility_level AS varchar(200)) COLLATE DATABASE_DEFAULT, 'sys.databases'),
    ('target_recovery_time_seconds', CAST(d.target_recovery_time_in_seconds AS varchar(200)) COLLATE DATABASE_DEFAULT, 'sys.databases'),
    ('page_verify', CAST(d.page_verify_option_desc AS varchar(200)) COLLATE DATABASE_DEFAULT, 'sys.databases'),
    ('read_committed_snapshot', CASE d.is_read_committed_snapshot_on WHEN 1 THEN 'ON' ELSE 'OFF' END, 'sys.databases'),
    ('allow_snapshot_isolation', CAST(d.snapshot_isolation_state_desc AS varchar(200)) COLLATE DATABASE_DEFAULT, 'sys.databases'),
    ('query_store', CASE d.is_query_store_on WHEN 1 THEN 'ON' ELSE 'OFF' END, 'sys.databases'),
    ('collation', CAST(d.collation_name AS varchar(200)) COLLATE DATABASE_DEFAULT, 'sys.databases'),
    ('version', CAST(SERVERPROPERTY('ProductVersion') AS varchar(200)) COLLATE DATABASE_DEFAULT, 'SERVERPROPERTY'),
    ('edition', CAST(SERVERPROPERTY('Edition') AS varchar(200)) COLLATE DATABASE_DEFAULT, 'SERVERPROPERTY')) v (name, value, source)
 WHERE d.name = DB_NAME()
UNION ALL
SELECT CAST(name AS varchar(200)) COLLATE DATABASE_DEFAULT, CAST(value AS varchar(200)) COLLATE DATABASE_DEFAULT, 'sys.database_scoped_configurations'
  FROM sys.database_scoped_configurations
UNION ALL
SELECT CAST(name AS varchar(200)) COLLATE DATABASE_DEFAULT, CAST(value_in_use AS varchar(200)) COLLATE DATABASE_DEFAULT, 'sys.configurations'
  FROM sys.configurations
