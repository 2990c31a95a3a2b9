-- The manifest: what the data is, and which parts of the build are done. Each part is noted in the transaction that makes it.

-- name: manifest_rows() columns=4
SELECT entry, w_id, row_count, content FROM proofload_manifest ORDER BY entry, w_id;

-- name: manifest_add(entry, w_id, row_count, content)
INSERT INTO proofload_manifest (entry, w_id, row_count, content) VALUES (:entry, :w_id, :row_count, :content);

-- name: manifest_remove(entry)
DELETE FROM proofload_manifest WHERE entry = :entry;
