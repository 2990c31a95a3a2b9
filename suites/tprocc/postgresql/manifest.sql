-- The manifest's table, and what is in the catalogue.

-- name: manifest_schema()
CREATE TABLE proofload_manifest (
    entry text COLLATE "C" NOT NULL, w_id integer NOT NULL, row_count bigint NOT NULL, content text COLLATE "C" NOT NULL,
    PRIMARY KEY (entry, w_id)
);

-- name: manifest_exists() columns=1
SELECT count(*) FROM pg_tables WHERE schemaname = current_schema() AND tablename = 'proofload_manifest';

-- name: foreign_tables() columns=1
SELECT tablename FROM pg_tables WHERE schemaname = current_schema() ORDER BY tablename LIMIT 10;
