-- Size of the whole database.

-- name: database_bytes() columns=1
SELECT pg_database_size(current_database());
