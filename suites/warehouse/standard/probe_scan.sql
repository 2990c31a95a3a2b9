-- title: the sum of every measure of the largest table, which no index helps
-- class: simple
-- column: sum_quantity sum 2
-- column: sum_price sum 2
-- column: sum_discount sum 2
-- column: sum_tax sum 2
-- column: lines integer
SELECT sum(l_quantity) AS sum_quantity,
       sum(l_extendedprice) AS sum_price,
       sum(l_discount) AS sum_discount,
       sum(l_tax) AS sum_tax,
       count(*) AS lines
  FROM lineitem
