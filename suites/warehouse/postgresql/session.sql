-- What a session of a stream says before its first query.

-- name: cap(milliseconds)
SET statement_timeout = :milliseconds;
