-- The manifest's table, and what is in the catalogue.

-- name: manifest_schema()
CREATE TABLE proofload_manifest (entry TEXT NOT NULL PRIMARY KEY, content TEXT NOT NULL) STRICT, WITHOUT ROWID;

-- name: tables() columns=1
SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY name LIMIT 100;
