-- Statements on one field: the file stands once for each field, with its number at {n}.

-- name: read_{n}(key) columns=1
SELECT json_value(ycsb_value, '$.field{n}') FROM usertable WHERE ycsb_key = :key;

-- name: scan_{n}(key, limit) columns=2
SELECT TOP (:limit) ycsb_key, json_value(ycsb_value, '$.field{n}') FROM usertable WHERE ycsb_key >= :key ORDER BY ycsb_key;

-- name: update_{n}(key, value)
UPDATE usertable SET ycsb_value = json_modify(ycsb_value, '$.field{n}', :value) WHERE ycsb_key = :key;
