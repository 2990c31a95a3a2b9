-- Bytes of the tables with their free space and visibility maps, and of their indexes.

-- name: sizes() columns=2
SELECT CAST(sum(pg_table_size(oid)) AS bigint), CAST(sum(pg_indexes_size(oid)) AS bigint)
  FROM pg_class
 WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace AND relname <> 'proofload_manifest';
