-- The manifest's table, and what is in the catalogue. A table commits what is open, so the manifest is made first: the tables beside an empty
-- one are those of a build that was killed before it noted them.

-- name: manifest_schema()
CREATE TABLE IF NOT EXISTS proofload_manifest (
    entry varchar(100) NOT NULL, w_id integer NOT NULL, row_count bigint NOT NULL, content varchar(2000) NOT NULL,
    PRIMARY KEY (entry, w_id)
) ENGINE = InnoDB;

-- name: manifest_exists() columns=1
SELECT count(*) FROM information_schema.tables WHERE table_schema = database() AND table_name = 'proofload_manifest';

-- name: foreign_tables() columns=1
SELECT table_name FROM information_schema.tables
WHERE table_schema = database() AND NOT EXISTS (
    SELECT 1 FROM information_schema.tables WHERE table_schema = database() AND table_name = 'proofload_manifest')
ORDER BY table_name LIMIT 10;
