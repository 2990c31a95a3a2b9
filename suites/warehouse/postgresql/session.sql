-- What a session of a stream says before its first query. A query works with its own process and helpers of it.

-- name: cap(milliseconds)
SET statement_timeout = :milliseconds;

-- name: parallelism(helpers)
SET max_parallel_workers_per_gather = :helpers;

-- name: parallelism_in_force() columns=1
SELECT 1 + LEAST(CAST(current_setting('max_parallel_workers_per_gather') AS integer),
                 CAST(current_setting('max_parallel_workers') AS integer),
                 CAST(current_setting('max_worker_processes') AS integer));
