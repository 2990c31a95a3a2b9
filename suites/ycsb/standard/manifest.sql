-- The manifest: what the data is, and which chunks are loaded. A chunk is noted in the transaction that loads it.

-- name: manifest_rows() columns=2
SELECT entry, content FROM proofload_manifest ORDER BY entry;

-- name: manifest_add(entry, content)
INSERT INTO proofload_manifest (entry, content) VALUES (:entry, :content);
