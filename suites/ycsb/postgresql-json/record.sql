-- Records as one jsonb document each, under YCSB's own names of key and fields. `[[…]]` stands once for each field, with its number at {n},
-- joined by commas.

-- name: schema()
CREATE TABLE usertable (ycsb_key text COLLATE "C" NOT NULL PRIMARY KEY, ycsb_value jsonb NOT NULL);

-- name: read_all(key) columns={fields}
SELECT [[ycsb_value->>'field{n}']] FROM usertable WHERE ycsb_key = :key;

-- name: scan_all(key, limit) columns={fields_and_key}
SELECT ycsb_key, [[ycsb_value->>'field{n}']] FROM usertable WHERE ycsb_key >= :key ORDER BY ycsb_key LIMIT :limit::bigint;

-- name: insert(key, [[field{n}]])
INSERT INTO usertable (ycsb_key, ycsb_value) VALUES (:key, jsonb_build_object([['field{n}', :field{n}::text]]));

-- name: update_all(key, [[field{n}]])
UPDATE usertable SET ycsb_value = ycsb_value || jsonb_build_object([['field{n}', :field{n}::text]]) WHERE ycsb_key = :key;
