-- The table of YCSB, with its own names of key and fields. `[[…]]` stands once for each field, with its number at {n}, joined by commas.

-- name: read_all(key) columns={fields}
SELECT [[field{n}]] FROM usertable WHERE ycsb_key = :key;

-- name: scan_all(key, limit) columns={fields_and_key}
SELECT ycsb_key, [[field{n}]] FROM usertable WHERE ycsb_key >= :key ORDER BY ycsb_key LIMIT :limit;

-- name: insert(key, [[field{n}]])
INSERT INTO usertable (ycsb_key, [[field{n}]]) VALUES (:key, [[:field{n}]]);

-- name: update_all(key, [[field{n}]])
UPDATE usertable SET [[field{n} = :field{n}]] WHERE ycsb_key = :key;

-- name: count() columns=1
SELECT count(*) FROM usertable;
