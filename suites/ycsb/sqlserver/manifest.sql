-- The manifest's table, and what is in the catalogue.

-- name: manifest_schema()
CREATE TABLE proofload_manifest (entry varchar(100) NOT NULL PRIMARY KEY, content varchar(2000) NOT NULL);

-- name: tables() columns=1
SELECT TOP 100 name FROM sys.tables WHERE schema_id = SCHEMA_ID() AND is_ms_shipped = 0 ORDER BY name;
