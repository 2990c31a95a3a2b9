-- The manifest's table, and what is in the catalogue.

-- name: manifest_schema()
CREATE TABLE proofload_manifest (
    entry TEXT NOT NULL, w_id INTEGER NOT NULL, row_count INTEGER NOT NULL, content TEXT NOT NULL,
    PRIMARY KEY (entry, w_id)
) STRICT, WITHOUT ROWID;

-- name: manifest_exists() columns=1
SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'proofload_manifest';

-- name: foreign_tables() columns=1
SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY name LIMIT 10;
