-- The manifest: what the data is, and which parts of the build are done. Each part is noted in the transaction that makes it.

-- name: manifest_exists() columns=1
SELECT count(*) FROM sys.tables WHERE schema_id = SCHEMA_ID() AND name = 'proofload_manifest';

-- name: foreign_tables() columns=1
SELECT TOP 10 name FROM sys.tables WHERE schema_id = SCHEMA_ID() AND is_ms_shipped = 0;
