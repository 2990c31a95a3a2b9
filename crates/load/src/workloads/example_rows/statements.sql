-- Statements that every engine of SQL sessions understands.

-- name: schema()
CREATE TABLE example_row (id BIGINT NOT NULL PRIMARY KEY, content BIGINT NOT NULL);

-- name: read(id) columns=1
SELECT content FROM example_row WHERE id = :id;

-- name: all() columns=2
SELECT id, content FROM example_row ORDER BY id;

-- name: count() columns=1
SELECT count(*) FROM example_row;
