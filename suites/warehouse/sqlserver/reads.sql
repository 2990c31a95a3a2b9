-- What the engine counts of the pages that queries ask for, in its pool or not; the account needs VIEW SERVER STATE. The counter is a total
-- although its name says otherwise. A column store reads segments, which it counts elsewhere.

-- name: logical_bytes() columns=1
SELECT coalesce(sum(cntr_value), 0) * 8192
  FROM sys.dm_os_performance_counters
 WHERE counter_name = 'Page lookups/sec' AND object_name LIKE '%Buffer Manager%';
