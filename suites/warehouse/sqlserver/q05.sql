SELECT n_name, sum(l_extendedprice * (1 - l_discount)) AS revenue
  FROM customer
  JOIN orders ON o_custkey = c_custkey
  JOIN lineitem ON l_orderkey = o_orderkey
  JOIN supplier ON s_suppkey = l_suppkey AND s_nationkey = c_nationkey
  JOIN nation ON n_nationkey = s_nationkey
  JOIN region ON r_regionkey = n_regionkey
 WHERE r_name = '{region}'
   AND o_orderdate >= CAST('{date}' AS date)
   AND o_orderdate < DATEADD(year, 1, CAST('{date}' AS date))
 GROUP BY n_name
 ORDER BY revenue DESC
