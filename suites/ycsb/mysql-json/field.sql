-- Statements on one field: the file stands once for each field, with its number at {n}.

-- name: read_{n}(key) columns=1
SELECT ycsb_value->>'$.field{n}' FROM usertable WHERE ycsb_key = :key;

-- name: scan_{n}(key, limit) columns=2
SELECT ycsb_key, ycsb_value->>'$.field{n}' FROM usertable WHERE ycsb_key >= :key ORDER BY ycsb_key LIMIT :limit;
