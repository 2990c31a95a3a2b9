-- Keys, clustered, and indexes of the foreign keys that queries follow.

-- name: region_key()
ALTER TABLE region ADD PRIMARY KEY (r_regionkey);

-- name: nation_key()
ALTER TABLE nation ADD PRIMARY KEY (n_nationkey);

-- name: part_key()
ALTER TABLE part ADD PRIMARY KEY (p_partkey);

-- name: supplier_key()
ALTER TABLE supplier ADD PRIMARY KEY (s_suppkey);

-- name: partsupp_key()
ALTER TABLE partsupp ADD PRIMARY KEY (ps_partkey, ps_suppkey);

-- name: customer_key()
ALTER TABLE customer ADD PRIMARY KEY (c_custkey);

-- name: orders_key()
ALTER TABLE orders ADD PRIMARY KEY (o_orderkey);

-- name: lineitem_key()
ALTER TABLE lineitem ADD PRIMARY KEY (l_orderkey, l_linenumber);

-- name: partsupp_supplier()
CREATE INDEX partsupp_supplier ON partsupp (ps_suppkey);

-- name: orders_customer()
CREATE INDEX orders_customer ON orders (o_custkey);

-- name: lineitem_part_supplier()
CREATE INDEX lineitem_part_supplier ON lineitem (l_partkey, l_suppkey);
