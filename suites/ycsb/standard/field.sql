-- Statements on one field: the file stands once for each field, with its number at {n}.

-- name: read_{n}(key) columns=1
SELECT field{n} FROM usertable WHERE ycsb_key = :key;

-- name: scan_{n}(key, limit) columns=2
SELECT ycsb_key, field{n} FROM usertable WHERE ycsb_key >= :key ORDER BY ycsb_key LIMIT :limit;

-- name: update_{n}(key, value)
UPDATE usertable SET field{n} = :value WHERE ycsb_key = :key;
