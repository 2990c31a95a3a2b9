SELECT l_returnflag,
       l_linestatus,
       sum(l_quantity) AS sum_qty,
       sum(l_extendedprice) AS sum_base_price,
       sum(l_extendedprice * (100 - l_discount)) AS sum_disc_price,
       sum(l_extendedprice * (100 - l_discount) * (100 + l_tax)) AS sum_charge,
       CAST(round(avg(l_quantity)) AS INTEGER) AS avg_qty,
       CAST(round(avg(l_extendedprice)) AS INTEGER) AS avg_price,
       CAST(round(avg(l_discount)) AS INTEGER) AS avg_disc,
       count(*) AS count_order
  FROM lineitem
 WHERE l_shipdate <= date('1998-12-01', '-{delta} days')
 GROUP BY l_returnflag, l_linestatus
 ORDER BY l_returnflag, l_linestatus
