-- What is installed of procedures.sql and types.sql, and how it is taken away before it is installed anew. The server keeps the text that created
-- each procedure. Of a type it keeps columns and key, which are put together as types.sql has them.

-- name: routines_found() columns=2
SELECT p.name, m.definition FROM sys.procedures AS p JOIN sys.sql_modules AS m ON m.object_id = p.object_id
WHERE p.schema_id = SCHEMA_ID() AND left(p.name, 7) = 'tprocc_'
UNION ALL
SELECT t.name, concat(
    (SELECT string_agg(concat(c.name COLLATE DATABASE_DEFAULT, ' ', type_name(c.user_type_id),
            CASE c.is_nullable WHEN 1 THEN ' NULL' ELSE ' NOT NULL' END), ', ')
        WITHIN GROUP (ORDER BY c.column_id)
    FROM sys.columns AS c WHERE c.object_id = t.type_table_object_id),
    (SELECT string_agg(concat(', PRIMARY KEY ', CASE i.type WHEN 1 THEN 'CLUSTERED' ELSE 'NONCLUSTERED' END,
            ' (', col_name(k.object_id, k.column_id) COLLATE DATABASE_DEFAULT, ')'), '') WITHIN GROUP (ORDER BY k.key_ordinal)
    FROM sys.indexes AS i JOIN sys.index_columns AS k ON k.object_id = i.object_id AND k.index_id = i.index_id
    WHERE i.object_id = t.type_table_object_id AND i.is_primary_key = 1))
FROM sys.table_types AS t
WHERE t.schema_id = SCHEMA_ID() AND left(t.name, 7) = 'tprocc_'
ORDER BY name;

-- Procedures first, in the order of these texts: a type that a procedure takes cannot go.
-- name: routines_to_drop() columns=1
SELECT concat('DROP PROCEDURE IF EXISTS ', quotename(name)) FROM sys.procedures
WHERE schema_id = SCHEMA_ID() AND left(name, 7) = 'tprocc_'
UNION ALL
SELECT concat('DROP TYPE IF EXISTS ', quotename(name)) FROM sys.table_types
WHERE schema_id = SCHEMA_ID() AND left(name, 7) = 'tprocc_'
ORDER BY 1;
