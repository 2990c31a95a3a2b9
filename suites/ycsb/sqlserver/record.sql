-- Keys are compared byte by byte, by the collation of the database; a key has a length. A scan has its limit in TOP.

-- name: schema()
CREATE TABLE usertable (ycsb_key varchar(255) NOT NULL PRIMARY KEY, [[field{n} varchar(max) NULL]]);

-- name: scan_all(key, limit) columns={fields_and_key}
SELECT TOP (:limit) ycsb_key, [[field{n}]] FROM usertable WHERE ycsb_key >= :key ORDER BY ycsb_key;

-- A count of rows has 32 bits unless COUNT_BIG makes it.
-- name: count() columns=1
SELECT COUNT_BIG(*) FROM usertable;
