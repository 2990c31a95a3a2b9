-- The type of a limit has to be said.

-- name: scan_{n}(key, limit) columns=2
SELECT ycsb_key, field{n} FROM usertable WHERE ycsb_key >= :key ORDER BY ycsb_key LIMIT :limit::bigint;
