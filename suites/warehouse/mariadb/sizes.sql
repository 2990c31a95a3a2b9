-- Bytes of the tables and of their indexes, by InnoDB's own statistics.

-- name: sizes() columns=2
SELECT CAST(coalesce(sum(data_length), 0) AS SIGNED), CAST(coalesce(sum(index_length), 0) AS SIGNED)
  FROM information_schema.tables
 WHERE table_schema = database() AND table_name <> 'proofload_manifest';
