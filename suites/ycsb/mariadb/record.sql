-- Keys are compared byte by byte; a key has a length.

-- name: schema()
CREATE TABLE IF NOT EXISTS usertable (ycsb_key varchar(255) NOT NULL PRIMARY KEY, [[field{n} text]])
ENGINE = InnoDB;
