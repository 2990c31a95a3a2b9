-- The manifest's table, and what is in the catalogue.

-- name: manifest_schema()
CREATE TABLE proofload_manifest (entry text COLLATE "C" NOT NULL PRIMARY KEY, content text COLLATE "C" NOT NULL);

-- name: tables() columns=1
SELECT tablename FROM pg_tables WHERE schemaname = current_schema() ORDER BY tablename LIMIT 100;
