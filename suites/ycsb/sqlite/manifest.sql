-- The manifest: what the data is, and which chunks are loaded. A chunk is noted in the transaction that loads it.

-- name: manifest_schema()
CREATE TABLE proofload_manifest (entry TEXT NOT NULL PRIMARY KEY, content TEXT NOT NULL) STRICT, WITHOUT ROWID;

-- name: tables() columns=1
SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY name LIMIT 100;

-- name: manifest_rows() columns=2
SELECT entry, content FROM proofload_manifest ORDER BY entry;

-- name: manifest_add(entry, content)
INSERT INTO proofload_manifest (entry, content) VALUES (:entry, :content);
