-- title: pricing summary of shipped lines
-- class: simple
-- parameter: delta = 90 from integer 60 to 120
-- column: l_returnflag text
-- column: l_linestatus text
-- column: sum_qty sum 2
-- column: sum_base_price sum 2
-- column: sum_disc_price sum 4
-- column: sum_charge sum 6
-- column: avg_qty average 2
-- column: avg_price average 2
-- column: avg_disc average 2
-- column: count_order integer
-- order: l_returnflag, l_linestatus
SELECT l_returnflag,
       l_linestatus,
       sum(l_quantity) AS sum_qty,
       sum(l_extendedprice) AS sum_base_price,
       sum(l_extendedprice * (1 - l_discount)) AS sum_disc_price,
       CAST(sum(l_extendedprice * (1 - l_discount) * (1 + l_tax)) AS DECIMAL(18, 2)) AS sum_charge,
       CAST(avg(l_quantity) AS DECIMAL(18, 2)) AS avg_qty,
       CAST(avg(l_extendedprice) AS DECIMAL(18, 2)) AS avg_price,
       CAST(avg(l_discount) AS DECIMAL(18, 2)) AS avg_disc,
       count(*) AS count_order
  FROM lineitem
 WHERE l_shipdate <= DATE '1998-12-01' - INTERVAL '{delta}' DAY
 GROUP BY l_returnflag, l_linestatus
 ORDER BY l_returnflag, l_linestatus
