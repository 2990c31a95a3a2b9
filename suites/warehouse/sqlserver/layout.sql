-- How tables are stored: by rows in clustered keys, see indexes.sql, or by columns in clustered columnstore indexes, made before the rows
-- so that they are loaded into them.
-- layout: rows own indexed
-- layout: columns

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
