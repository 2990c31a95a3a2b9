-- What a session of a stream says before its first query. A query runs on one thread.

-- name: cap(milliseconds)
SET SESSION max_execution_time = :milliseconds;
