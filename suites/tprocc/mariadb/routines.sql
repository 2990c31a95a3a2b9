-- What is installed of procedures.sql, and how it is taken away before it is installed anew.

-- name: routines_found() columns=2
SELECT routine_name, routine_definition FROM information_schema.routines
WHERE routine_schema = database() AND left(routine_name, 7) = 'tprocc_' ORDER BY routine_name;

-- name: routines_to_drop() columns=1
SELECT concat('DROP ', routine_type, ' IF EXISTS ', routine_name) FROM information_schema.routines
WHERE routine_schema = database() AND left(routine_name, 7) = 'tprocc_' ORDER BY routine_name;
