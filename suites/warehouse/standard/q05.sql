-- title: revenue of a region between customers and suppliers of one nation
-- class: average
-- parameter: region = ASIA from list regions
-- parameter: date = 1994-01-01 from year 1993 to 1997
-- column: n_name text
-- column: revenue sum 4
-- order: revenue
SELECT n_name, sum(l_extendedprice * (1 - l_discount)) AS revenue
  FROM customer
  JOIN orders ON o_custkey = c_custkey
  JOIN lineitem ON l_orderkey = o_orderkey
  JOIN supplier ON s_suppkey = l_suppkey AND s_nationkey = c_nationkey
  JOIN nation ON n_nationkey = s_nationkey
  JOIN region ON r_regionkey = n_regionkey
 WHERE r_name = '{region}'
   AND o_orderdate >= DATE '{date}'
   AND o_orderdate < DATE '{date}' + INTERVAL '1' YEAR
 GROUP BY n_name
 ORDER BY revenue DESC
