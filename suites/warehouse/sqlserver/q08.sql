SELECT o_year, CAST(sum(CASE WHEN nation = '{nation}' THEN volume ELSE 0 END) / sum(volume) AS DECIMAL(18, 4)) AS mkt_share
  FROM (SELECT YEAR(o_orderdate) AS o_year,
               l_extendedprice * (1 - l_discount) AS volume,
               n2.n_name AS nation
          FROM part
          JOIN lineitem ON l_partkey = p_partkey
          JOIN supplier ON s_suppkey = l_suppkey
          JOIN orders ON o_orderkey = l_orderkey
          JOIN customer ON c_custkey = o_custkey
          JOIN nation n1 ON n1.n_nationkey = c_nationkey
          JOIN region ON r_regionkey = n1.n_regionkey
          JOIN nation n2 ON n2.n_nationkey = s_nationkey
         WHERE r_name = '{region}'
           AND o_orderdate BETWEEN CAST('1995-01-01' AS date) AND CAST('1996-12-31' AS date)
           AND p_type = '{type}') AS all_nations
 GROUP BY o_year
 ORDER BY o_year
