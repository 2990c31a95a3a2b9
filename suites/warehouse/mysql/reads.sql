-- What the engine counts of the pages that queries ask for, in its pool or not. The cap of queries is not for it.

-- name: settle()
SET SESSION max_execution_time = 0;

-- name: logical_bytes() columns=1
SELECT CAST(variable_value AS UNSIGNED) * @@innodb_page_size FROM performance_schema.global_status
 WHERE variable_name = 'Innodb_buffer_pool_read_requests';
