-- The manifest's table, and what is in the catalogue. It is made before the table of records: a table beside an empty manifest is that of a
-- load that was killed before it noted anything.

-- name: manifest_schema()
CREATE TABLE IF NOT EXISTS proofload_manifest (entry varchar(100) NOT NULL PRIMARY KEY, content varchar(2000) NOT NULL)
ENGINE = InnoDB;

-- name: tables() columns=1
SELECT table_name FROM information_schema.tables WHERE table_schema = database() ORDER BY table_name LIMIT 100;
