-- Keys and indexes of the foreign keys that queries follow. Keys of one column are the rows' numbers, see schema.sql.

-- name: partsupp_key()
CREATE UNIQUE INDEX partsupp_key ON partsupp (ps_partkey, ps_suppkey);

-- name: lineitem_key()
CREATE UNIQUE INDEX lineitem_key ON lineitem (l_orderkey, l_linenumber);

-- name: partsupp_supplier()
CREATE INDEX partsupp_supplier ON partsupp (ps_suppkey);

-- name: orders_customer()
CREATE INDEX orders_customer ON orders (o_custkey);

-- name: lineitem_part_supplier()
CREATE INDEX lineitem_part_supplier ON lineitem (l_partkey, l_suppkey);
