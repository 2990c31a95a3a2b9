-- Records as one JSON document each, kept as text, under YCSB's own names of key and fields. `[[…]]` stands once for each field, with its number
-- at {n}, joined by commas. A change of all fields is a document anew.

-- name: schema()
CREATE TABLE usertable (ycsb_key varchar(255) NOT NULL PRIMARY KEY, ycsb_value varchar(max) NOT NULL);

-- name: read_all(key) columns={fields}
SELECT [[json_value(ycsb_value, '$.field{n}')]] FROM usertable WHERE ycsb_key = :key;

-- name: scan_all(key, limit) columns={fields_and_key}
SELECT TOP (:limit) ycsb_key, [[json_value(ycsb_value, '$.field{n}')]] FROM usertable WHERE ycsb_key >= :key ORDER BY ycsb_key;

-- name: insert(key, [[field{n}]])
INSERT INTO usertable (ycsb_key, ycsb_value)
SELECT :key, (SELECT [[:field{n} AS field{n}]] FOR JSON PATH, WITHOUT_ARRAY_WRAPPER, INCLUDE_NULL_VALUES);

-- name: update_all(key, [[field{n}]])
UPDATE usertable SET ycsb_value = (SELECT [[:field{n} AS field{n}]] FOR JSON PATH, WITHOUT_ARRAY_WRAPPER, INCLUDE_NULL_VALUES)
WHERE ycsb_key = :key;
