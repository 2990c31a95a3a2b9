-- Indexes of the foreign keys that queries follow; keys are part of the tables, see schema.sql. MariaDB joins by nested loops, so that
-- without them the correlated queries 17, 20, 21 and 22 read a table for each row of another. 21 needs that of lineitem's supplier, which
-- engines with hash joins do without. An index that was made and not noted is found.

-- name: partsupp_supplier()
CREATE INDEX IF NOT EXISTS partsupp_supplier ON partsupp (ps_suppkey);

-- name: orders_customer()
CREATE INDEX IF NOT EXISTS orders_customer ON orders (o_custkey);

-- name: lineitem_part_supplier()
CREATE INDEX IF NOT EXISTS lineitem_part_supplier ON lineitem (l_partkey, l_suppkey);

-- name: lineitem_supplier()
CREATE INDEX IF NOT EXISTS lineitem_supplier ON lineitem (l_suppkey);
