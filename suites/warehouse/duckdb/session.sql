-- What a session of a stream says before its first query. The cap of a query is a setting of the client. The threads are those of all
-- queries together, whichever session sets them.
-- same: engine.threads

-- name: parallelism(threads)
SET threads = :threads;

-- name: parallelism_in_force() columns=1
SELECT CAST(current_setting('threads') AS BIGINT);
