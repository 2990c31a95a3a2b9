-- Statements on one field: the file stands once for each field, with its number at {n}.

-- name: scan_{n}(key, limit) columns=2
SELECT TOP (:limit) ycsb_key, field{n} FROM usertable WHERE ycsb_key >= :key ORDER BY ycsb_key;
