-- The manifest: what the data is, and which parts of the build are done. Each part is noted in the transaction that makes it.

-- name: manifest_schema()
CREATE TABLE proofload_manifest (entry TEXT PRIMARY KEY, content TEXT NOT NULL) STRICT, WITHOUT ROWID;

-- name: manifest_exists() columns=1
SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'proofload_manifest';

-- name: foreign_tables() columns=1
SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY name LIMIT 10;

-- name: manifest_rows() columns=2
SELECT entry, content FROM proofload_manifest;

-- name: manifest_add(entry, content)
INSERT INTO proofload_manifest (entry, content) VALUES (:entry, :content);
