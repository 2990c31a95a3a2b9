-- Records as one JSON document each, which MySQL keeps in a form of its own. A value of a document is read as a text of any length, which
-- JSON_VALUE, as on MariaDB, would cut at 512 characters.

-- name: read_all(key) columns={fields}
SELECT [[ycsb_value->>'$.field{n}']] FROM usertable WHERE ycsb_key = :key;

-- name: scan_all(key, limit) columns={fields_and_key}
SELECT ycsb_key, [[ycsb_value->>'$.field{n}']] FROM usertable WHERE ycsb_key >= :key ORDER BY ycsb_key LIMIT :limit;
