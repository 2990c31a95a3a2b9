-- How tables are stored: by rows in clustered keys, see indexes.sql, or by columns in clustered columnstore indexes, made before the rows
-- so that they are loaded into them.
-- layout: rows own indexed
-- layout: columns orders

-- name: rows_otherwise() columns=1
SELECT t.name FROM sys.tables t JOIN sys.indexes i ON i.object_id = t.object_id WHERE i.type = 5;

-- name: columns_after()
CREATE CLUSTERED COLUMNSTORE INDEX region_columns ON region;
CREATE CLUSTERED COLUMNSTORE INDEX nation_columns ON nation;
CREATE CLUSTERED COLUMNSTORE INDEX part_columns ON part;
CREATE CLUSTERED COLUMNSTORE INDEX supplier_columns ON supplier;
CREATE CLUSTERED COLUMNSTORE INDEX partsupp_columns ON partsupp;
CREATE CLUSTERED COLUMNSTORE INDEX customer_columns ON customer;
CREATE CLUSTERED COLUMNSTORE INDEX orders_columns ON orders;
CREATE CLUSTERED COLUMNSTORE INDEX lineitem_columns ON lineitem;

-- name: columns_otherwise() columns=1
SELECT t.name FROM sys.tables t
 WHERE t.name <> 'proofload_manifest' AND NOT EXISTS (SELECT 1 FROM sys.indexes i WHERE i.object_id = t.object_id AND i.type = 5);

-- name: columns_ordered_missing() columns=1
SELECT CONCAT('SQL Server 2022 or later for workload.column_order; this one is ', CAST(SERVERPROPERTY('ProductVersion') AS varchar(128)))
 WHERE CAST(SERVERPROPERTY('ProductMajorVersion') AS int) < 16 AND CAST(SERVERPROPERTY('EngineEdition') AS int) NOT IN (5, 8);

-- Sorted by one thread, so that row groups overlap as little as memory allows. In quotes, since the grammar of 2019 has no ORDER here.
-- name: columns_ordered()
IF NOT EXISTS (SELECT 1 FROM sys.index_columns c WHERE c.object_id = OBJECT_ID('lineitem') AND c.column_store_order_ordinal > 0)
    EXEC sys.sp_executesql
         N'CREATE CLUSTERED COLUMNSTORE INDEX lineitem_columns ON lineitem ORDER (l_shipdate) WITH (DROP_EXISTING = ON, MAXDOP = 1)';

-- name: columns_ordered_otherwise() columns=1
SELECT t.name FROM sys.tables t
 WHERE t.name = 'lineitem' AND NOT EXISTS (
       SELECT 1 FROM sys.indexes i
         JOIN sys.index_columns c ON c.object_id = i.object_id AND c.index_id = i.index_id
         JOIN sys.columns n ON n.object_id = c.object_id AND n.column_id = c.column_id
        WHERE i.object_id = t.object_id AND i.type = 5 AND n.name = 'l_shipdate' AND c.column_store_order_ordinal = 1);
