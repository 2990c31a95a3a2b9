-- Size of the whole database, and statistics of the tables.

-- name: database_bytes() columns=1
SELECT CAST(coalesce(sum(data_length + index_length), 0) AS SIGNED) FROM information_schema.tables WHERE table_schema = database();

-- name: analyze()
ANALYZE TABLE warehouse, district, customer, history, new_order, orders, order_line, item, stock;
