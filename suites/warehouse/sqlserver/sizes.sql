-- Bytes of the tables, as heaps, clustered keys or column stores, and of their other indexes, by pages in use.

-- name: sizes() columns=2
SELECT coalesce(sum(CASE WHEN i.index_id <= 1 THEN CAST(a.used_pages AS bigint) ELSE 0 END), 0) * 8192,
       coalesce(sum(CASE WHEN i.index_id > 1 THEN CAST(a.used_pages AS bigint) ELSE 0 END), 0) * 8192
  FROM sys.tables t
  JOIN sys.indexes i ON i.object_id = t.object_id
  JOIN sys.partitions p ON p.object_id = i.object_id AND p.index_id = i.index_id
  JOIN sys.allocation_units a ON a.container_id = p.hobt_id OR a.container_id = p.partition_id AND a.type = 2
 WHERE t.is_ms_shipped = 0 AND t.name <> 'proofload_manifest';
