SELECT TOP 10 l_orderkey, sum(l_extendedprice * (1 - l_discount)) AS revenue, o_orderdate, o_shippriority
  FROM customer
  JOIN orders ON o_custkey = c_custkey
  JOIN lineitem ON l_orderkey = o_orderkey
 WHERE c_mktsegment = '{segment}'
   AND o_orderdate < CAST('{date}' AS date)
   AND l_shipdate > CAST('{date}' AS date)
 GROUP BY l_orderkey, o_orderdate, o_shippriority
 ORDER BY revenue DESC, o_orderdate
