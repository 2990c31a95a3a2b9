-- What is installed of procedures.sql, and how it is taken away before it is installed anew.
--
-- The server runs a routine under settings of the session that created it, and keeps them with it. Behind its name and body stand, for each
-- of them, its name, the routine's value and the one that a routine created now would have. A table of routines may have an older name of a
-- mode.

-- name: routines_found() columns=14
SELECT routine_name, routine_definition,
    'sql_mode', replace(sql_mode, 'ALLOW_INVALID_DATES', 'INVALID_DATES'), replace(@@sql_mode, 'ALLOW_INVALID_DATES', 'INVALID_DATES'),
    'character_set_client', character_set_client, @@character_set_client,
    'collation_connection', collation_connection, @@collation_connection,
    'database_collation', database_collation,
    (SELECT default_collation_name FROM information_schema.schemata WHERE schema_name = database())
FROM information_schema.routines
WHERE routine_schema = database() AND left(routine_name, 7) = 'tprocc_' ORDER BY routine_name;

-- name: routines_to_drop() columns=1
SELECT concat('DROP ', routine_type, ' IF EXISTS ', routine_name) FROM information_schema.routines
WHERE routine_schema = database() AND left(routine_name, 7) = 'tprocc_' ORDER BY routine_name;
