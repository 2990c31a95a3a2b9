-- The manifest's table, and what is in the catalogue. Making a table is part of the transaction that makes it.

-- name: manifest_schema()
CREATE TABLE proofload_manifest (
    entry varchar(100) NOT NULL, w_id int NOT NULL, row_count bigint NOT NULL, content varchar(2000) NOT NULL,
    PRIMARY KEY (entry, w_id)
);

-- name: manifest_exists() columns=1
SELECT count(*) FROM sys.tables WHERE schema_id = SCHEMA_ID() AND name = 'proofload_manifest';

-- name: foreign_tables() columns=1
SELECT TOP 10 name FROM sys.tables WHERE schema_id = SCHEMA_ID() AND is_ms_shipped = 0 ORDER BY name;
