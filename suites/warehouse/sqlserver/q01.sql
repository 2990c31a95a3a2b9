SELECT l_returnflag,
       l_linestatus,
       sum(l_quantity) AS sum_qty,
       sum(l_extendedprice) AS sum_base_price,
       sum(l_extendedprice * (1 - l_discount)) AS sum_disc_price,
       CAST(sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)) AS DECIMAL(18, 2)) AS sum_charge,
       CAST(avg(l_quantity) AS DECIMAL(18, 2)) AS avg_qty,
       CAST(avg(l_extendedprice) AS DECIMAL(18, 2)) AS avg_price,
       CAST(avg(l_discount) AS DECIMAL(18, 2)) AS avg_disc,
       COUNT_BIG(*) AS count_order
  FROM lineitem
 WHERE l_shipdate <= DATEADD(day, -{delta}, CAST('1998-12-01' AS date))
 GROUP BY l_returnflag, l_linestatus
 ORDER BY l_returnflag, l_linestatus
