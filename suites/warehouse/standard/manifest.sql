-- The manifest: what the data is, and which parts of the build are done. Each part is noted in the transaction that makes it.

-- name: manifest_schema()
CREATE TABLE proofload_manifest (entry varchar(100) NOT NULL PRIMARY KEY, content varchar(2000) NOT NULL);

-- name: manifest_exists() columns=1
SELECT count(*) FROM information_schema.tables
 WHERE table_schema = current_schema() AND table_name = 'proofload_manifest';

-- name: foreign_tables() columns=1
SELECT CAST(table_name AS varchar(200)) FROM information_schema.tables WHERE table_schema = current_schema() LIMIT 10;

-- name: manifest_rows() columns=2
SELECT entry, content FROM proofload_manifest;

-- name: manifest_add(entry, content)
INSERT INTO proofload_manifest (entry, content) VALUES (:entry, :content);
