-- Bytes of the tables, and of their indexes.

-- name: sizes() columns=2
SELECT coalesce(sum(CASE WHEN type = 'table' THEN pgsize END), 0), coalesce(sum(CASE WHEN type = 'index' THEN pgsize END), 0)
  FROM (SELECT s.type, d.pgsize FROM dbstat d JOIN sqlite_schema s ON s.name = d.name WHERE d.aggregate = TRUE AND s.tbl_name <> 'proofload_manifest');
