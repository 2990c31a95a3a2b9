-- What a session of a stream says before its first query. The cap of a query is a setting of the client. The threads of a query are
-- a setting of the database, whichever session sets them; a hint in the query, OPTION (MAXDOP n), would say the same of one.

-- name: parallelism(threads)
ALTER DATABASE SCOPED CONFIGURATION SET MAXDOP = :threads;

-- name: parallelism_in_force() columns=1
SELECT CAST(value AS bigint) FROM sys.database_scoped_configurations WHERE name = 'MAXDOP';
