-- The manifest: what the data is, and which parts of the build are done. Each part is noted in the transaction that makes it.

-- name: manifest_schema()
CREATE TABLE proofload_manifest (
    entry text COLLATE "C" NOT NULL, w_id integer NOT NULL, row_count bigint NOT NULL, content text COLLATE "C" NOT NULL,
    PRIMARY KEY (entry, w_id)
);

-- name: manifest_exists() columns=1
SELECT count(*) FROM pg_tables WHERE schemaname = current_schema() AND tablename = 'proofload_manifest';

-- name: foreign_tables() columns=1
SELECT tablename FROM pg_tables WHERE schemaname = current_schema() ORDER BY tablename LIMIT 10;

-- name: manifest_rows() columns=4
SELECT entry, w_id, row_count, content FROM proofload_manifest ORDER BY entry, w_id;

-- name: manifest_add(entry, w_id, row_count, content)
INSERT INTO proofload_manifest (entry, w_id, row_count, content) VALUES (:entry, :w_id, :row_count, :content);

-- name: manifest_remove(entry)
DELETE FROM proofload_manifest WHERE entry = :entry;
