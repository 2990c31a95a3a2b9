SELECT v.name, v.component, 'B', 0, CAST(v.pages AS bigint) * 8192
  FROM (SELECT SUM(user_object_reserved_page_count) AS tables, SUM(internal_object_reserved_page_count) AS spills,
               SUM(version_store_reserved_page_count) AS versions, SUM(unallocated_extent_page_count) AS free
          FROM tempdb.sys.dm_db_file_space_usage) u
 CROSS APPLY (VALUES
       ('tempdb_in_use', 'user objects', u.tables), ('tempdb_in_use', 'internal objects', u.spills),
       ('tempdb_in_use', 'version store', u.versions), ('tempdb_free', '', u.free)) v (name, component, pages)
UNION ALL
SELECT v.name, 'tempdb', v.unit, 1, SUM(CAST(v.value AS bigint))
  FROM sys.dm_io_virtual_file_stats(DB_ID('tempdb'), NULL) s
 CROSS APPLY (VALUES
       ('file_read_bytes', 'B/s', s.num_of_bytes_read), ('file_written_bytes', 'B/s', s.num_of_bytes_written),
       ('file_reads', '1/s', s.num_of_reads), ('file_writes', '1/s', s.num_of_writes),
       ('file_read_stall', 'ms/s', s.io_stall_read_ms), ('file_write_stall', 'ms/s', s.io_stall_write_ms)) v (name, unit, value)
 GROUP BY v.name, v.unit
