-- title: the unshipped orders of a segment with the highest value
-- class: average
-- parameter: segment = BUILDING from list segments
-- parameter: date = 1995-03-15 from day 1995-03-01 to 1995-03-31
-- column: l_orderkey integer
-- column: revenue sum 4
-- column: o_orderdate date
-- column: o_shippriority integer
-- order: revenue, o_orderdate
SELECT l_orderkey, sum(l_extendedprice * (1 - l_discount)) AS revenue, o_orderdate, o_shippriority
  FROM customer
  JOIN orders ON o_custkey = c_custkey
  JOIN lineitem ON l_orderkey = o_orderkey
 WHERE c_mktsegment = '{segment}'
   AND o_orderdate < DATE '{date}'
   AND l_shipdate > DATE '{date}'
 GROUP BY l_orderkey, o_orderdate, o_shippriority
 ORDER BY revenue DESC, o_orderdate
 LIMIT 10
