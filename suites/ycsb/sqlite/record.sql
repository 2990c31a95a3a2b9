-- The table of records.

-- name: schema()
CREATE TABLE usertable (ycsb_key TEXT NOT NULL PRIMARY KEY, [[field{n} TEXT]]);
