-- Tables of the TPC-H-derived data on SQLite, which has neither exact decimals nor dates: decimals are integers of hundredths,
-- dates are ISO text. A key of one column is the row's number, so it is part of the table; other keys come after the rows.

-- name: schema()
CREATE TABLE region (
    r_regionkey INTEGER PRIMARY KEY, r_name TEXT NOT NULL, r_comment TEXT NOT NULL
) STRICT;
CREATE TABLE nation (
    n_nationkey INTEGER PRIMARY KEY, n_name TEXT NOT NULL, n_regionkey INTEGER NOT NULL, n_comment TEXT NOT NULL
) STRICT;
CREATE TABLE part (
    p_partkey INTEGER PRIMARY KEY, p_name TEXT NOT NULL, p_mfgr TEXT NOT NULL, p_brand TEXT NOT NULL,
    p_type TEXT NOT NULL, p_size INTEGER NOT NULL, p_container TEXT NOT NULL,
    p_retailprice INTEGER NOT NULL, p_comment TEXT NOT NULL
) STRICT;
CREATE TABLE supplier (
    s_suppkey INTEGER PRIMARY KEY, s_name TEXT NOT NULL, s_address TEXT NOT NULL, s_nationkey INTEGER NOT NULL,
    s_phone TEXT NOT NULL, s_acctbal INTEGER NOT NULL, s_comment TEXT NOT NULL
) STRICT;
CREATE TABLE partsupp (
    ps_partkey INTEGER NOT NULL, ps_suppkey INTEGER NOT NULL, ps_availqty INTEGER NOT NULL,
    ps_supplycost INTEGER NOT NULL, ps_comment TEXT NOT NULL
) STRICT;
CREATE TABLE customer (
    c_custkey INTEGER PRIMARY KEY, c_name TEXT NOT NULL, c_address TEXT NOT NULL, c_nationkey INTEGER NOT NULL,
    c_phone TEXT NOT NULL, c_acctbal INTEGER NOT NULL, c_mktsegment TEXT NOT NULL,
    c_comment TEXT NOT NULL
) STRICT;
CREATE TABLE orders (
    o_orderkey INTEGER PRIMARY KEY, o_custkey INTEGER NOT NULL, o_orderstatus TEXT NOT NULL,
    o_totalprice INTEGER NOT NULL, o_orderdate TEXT NOT NULL, o_orderpriority TEXT NOT NULL,
    o_clerk TEXT NOT NULL, o_shippriority INTEGER NOT NULL, o_comment TEXT NOT NULL
) STRICT;
CREATE TABLE lineitem (
    l_orderkey INTEGER NOT NULL, l_partkey INTEGER NOT NULL, l_suppkey INTEGER NOT NULL, l_linenumber INTEGER NOT NULL,
    l_quantity INTEGER NOT NULL, l_extendedprice INTEGER NOT NULL, l_discount INTEGER NOT NULL,
    l_tax INTEGER NOT NULL, l_returnflag TEXT NOT NULL, l_linestatus TEXT NOT NULL,
    l_shipdate TEXT NOT NULL, l_commitdate TEXT NOT NULL, l_receiptdate TEXT NOT NULL,
    l_shipinstruct TEXT NOT NULL, l_shipmode TEXT NOT NULL, l_comment TEXT NOT NULL
) STRICT;
