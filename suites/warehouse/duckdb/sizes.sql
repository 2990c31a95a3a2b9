-- Bytes of the blocks in use; there are no indexes.

-- name: sizes() columns=2
SELECT CAST(used_blocks * block_size AS BIGINT), CAST(0 AS BIGINT) FROM pragma_database_size();
