-- The manifest: what the data is, and which parts of the build are done. MariaDB commits before it makes a table or an index, so that one can
-- be made and not noted; it is then found when it is made again. The manifest is made first: the tables beside an empty one are those of a
-- load that was killed before it noted them.

-- name: manifest_schema()
CREATE TABLE IF NOT EXISTS proofload_manifest (entry varchar(100) PRIMARY KEY, content varchar(2000) NOT NULL)
ENGINE = InnoDB;

-- name: manifest_exists() columns=1
SELECT count(*) FROM information_schema.tables WHERE table_schema = database() AND table_name = 'proofload_manifest';

-- name: foreign_tables() columns=1
SELECT table_name FROM information_schema.tables
 WHERE table_schema = database() AND NOT EXISTS (
       SELECT 1 FROM information_schema.tables WHERE table_schema = database() AND table_name = 'proofload_manifest')
 LIMIT 10;

-- name: manifest_rows() columns=2
SELECT entry, content FROM proofload_manifest;

-- name: manifest_add(entry, content)
INSERT INTO proofload_manifest (entry, content) VALUES (:entry, :content);
