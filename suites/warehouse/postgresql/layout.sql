-- How tables are stored: by rows in PostgreSQL's heap, or by columns through an access method of the name columnar, as Citus's columnar
-- extension brings it. The latter has been tried with an access method of that name that stores rows, not with the extension itself.
-- layout: rows own indexed
-- layout: columns

-- name: rows_before()
SET LOCAL default_table_access_method = heap;

-- name: rows_otherwise() columns=1
SELECT CAST(c.relname AS text) FROM pg_class c JOIN pg_am a ON a.oid = c.relam
 WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace AND c.relname <> 'proofload_manifest' AND a.amname <> 'heap';

-- name: columns_prepare()
DO $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM pg_am WHERE amname = 'columnar')
       AND EXISTS (SELECT 1 FROM pg_available_extensions WHERE name = 'citus_columnar') THEN
        CREATE EXTENSION citus_columnar;
    END IF;
END
$$;

-- name: columns_missing() columns=1
SELECT 'the access method columnar: install the extension citus_columnar on the server, or say workload.layout = "rows"'
 WHERE NOT EXISTS (SELECT 1 FROM pg_am WHERE amname = 'columnar' AND amtype = 't');

-- name: columns_before()
SET LOCAL default_table_access_method = columnar;

-- name: columns_after()
SET LOCAL default_table_access_method = heap;

-- name: columns_otherwise() columns=1
SELECT CAST(c.relname AS text) FROM pg_class c JOIN pg_am a ON a.oid = c.relam
 WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace AND c.relname <> 'proofload_manifest' AND a.amname <> 'columnar';
