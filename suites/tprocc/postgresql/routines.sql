-- What is installed of procedures.sql, and how it is taken away before it is installed anew.

-- name: routines_found() columns=2
SELECT proname::text, prosrc FROM pg_proc
WHERE pronamespace = current_schema()::regnamespace AND proname LIKE 'tprocc\_%' ORDER BY proname;

-- name: routines_to_drop() columns=1
SELECT format('DROP ROUTINE %s', oid::regprocedure) FROM pg_proc
WHERE pronamespace = current_schema()::regnamespace AND proname LIKE 'tprocc\_%' ORDER BY oid;
