-- Keys are compared byte by byte; the type of a limit has to be said.

-- name: schema()
CREATE TABLE usertable (ycsb_key text COLLATE "C" NOT NULL PRIMARY KEY, [[field{n} text]]);

-- name: scan_all(key, limit) columns={fields_and_key}
SELECT ycsb_key, [[field{n}]] FROM usertable WHERE ycsb_key >= :key ORDER BY ycsb_key LIMIT :limit::bigint;
