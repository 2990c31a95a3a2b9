-- title: customers with the largest orders
-- class: complex
-- parameter: quantity = 300 from integer 312 to 315
-- column: c_name text
-- column: c_custkey integer
-- column: o_orderkey integer
-- column: o_orderdate date
-- column: o_totalprice decimal 2
-- column: sum_qty sum 2
-- order: o_totalprice, o_orderdate
SELECT c_name, c_custkey, o_orderkey, o_orderdate, o_totalprice, sum(l_quantity) AS sum_qty
  FROM customer
  JOIN orders ON o_custkey = c_custkey
  JOIN lineitem ON l_orderkey = o_orderkey
 WHERE o_orderkey IN (SELECT l_orderkey FROM lineitem GROUP BY l_orderkey HAVING sum(l_quantity) > {quantity})
 GROUP BY c_name, c_custkey, o_orderkey, o_orderdate, o_totalprice
 ORDER BY o_totalprice DESC, o_orderdate
 LIMIT 100
