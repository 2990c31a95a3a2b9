-- What is installed of procedures.sql, and how it is taken away before it is installed anew. The server keeps the text that created each.

-- name: routines_found() columns=2
SELECT p.name, m.definition FROM sys.procedures AS p JOIN sys.sql_modules AS m ON m.object_id = p.object_id
WHERE p.schema_id = SCHEMA_ID() AND left(p.name, 7) = 'tprocc_' ORDER BY p.name;

-- name: routines_to_drop() columns=1
SELECT concat('DROP PROCEDURE IF EXISTS ', quotename(name)) FROM sys.procedures
WHERE schema_id = SCHEMA_ID() AND left(name, 7) = 'tprocc_' ORDER BY name;
