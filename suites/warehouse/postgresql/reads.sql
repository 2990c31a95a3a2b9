-- What the engine counts of the pages that queries ask for, in its cache or not. A session hands its counts over at the end of a
-- transaction, at most once a second: the one that waits a second hands over those before it. The cap of queries is not for it.

-- name: settle()
SET statement_timeout = 0;
SELECT pg_sleep(1.1);

-- name: logical_bytes() columns=1
SELECT (blks_hit + blks_read) * CAST(current_setting('block_size') AS bigint)
  FROM pg_stat_database
 WHERE datname = current_database();
