SELECT CAST(d.recovery_model_desc AS varchar(60)) COLLATE DATABASE_DEFAULT,
       CASE WHEN d.replica_id IS NOT NULL OR CAST(SERVERPROPERTY('EngineEdition') AS int) IN (5, 8) THEN 1 ELSE 0 END,
       COALESCE((SELECT CAST(p.value AS varchar(60)) COLLATE DATABASE_DEFAULT FROM sys.extended_properties p
                  WHERE p.class = 0 AND p.name = 'proofload_recovery'), '')
  FROM sys.databases d
 WHERE d.name = DB_NAME()
