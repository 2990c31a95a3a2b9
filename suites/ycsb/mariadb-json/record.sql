-- Records as one JSON document each, which MariaDB keeps as text that it checks, under YCSB's own names of key and fields. `[[…]]` stands once
-- for each field, with its number at {n}, joined by commas.

-- name: schema()
CREATE TABLE IF NOT EXISTS usertable (ycsb_key varchar(255) NOT NULL PRIMARY KEY, ycsb_value json NOT NULL)
ENGINE = InnoDB;

-- name: read_all(key) columns={fields}
SELECT [[json_value(ycsb_value, '$.field{n}')]] FROM usertable WHERE ycsb_key = :key;

-- name: scan_all(key, limit) columns={fields_and_key}
SELECT ycsb_key, [[json_value(ycsb_value, '$.field{n}')]] FROM usertable WHERE ycsb_key >= :key ORDER BY ycsb_key LIMIT :limit;

-- name: insert(key, [[field{n}]])
INSERT INTO usertable (ycsb_key, ycsb_value) VALUES (:key, json_object([['field{n}', :field{n}]]));

-- name: update_all(key, [[field{n}]])
UPDATE usertable SET ycsb_value = json_set(ycsb_value, [['$.field{n}', :field{n}]]) WHERE ycsb_key = :key;
