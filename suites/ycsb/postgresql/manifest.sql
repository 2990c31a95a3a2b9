-- The manifest: what the data is, and which chunks are loaded. A chunk is noted in the transaction that loads it.

-- name: manifest_schema()
CREATE TABLE proofload_manifest (entry text COLLATE "C" NOT NULL PRIMARY KEY, content text COLLATE "C" NOT NULL);

-- name: tables() columns=1
SELECT tablename FROM pg_tables WHERE schemaname = current_schema() ORDER BY tablename LIMIT 100;

-- name: manifest_rows() columns=2
SELECT entry, content FROM proofload_manifest ORDER BY entry;

-- name: manifest_add(entry, content)
INSERT INTO proofload_manifest (entry, content) VALUES (:entry, :content);
