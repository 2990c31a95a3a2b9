SELECT supp_nation, cust_nation, l_year, sum(volume) AS revenue
  FROM (SELECT n1.n_name AS supp_nation,
               n2.n_name AS cust_nation,
               YEAR(l_shipdate) AS l_year,
               l_extendedprice * (1 - l_discount) AS volume
          FROM supplier
          JOIN lineitem ON l_suppkey = s_suppkey
          JOIN orders ON o_orderkey = l_orderkey
          JOIN customer ON c_custkey = o_custkey
          JOIN nation n1 ON n1.n_nationkey = s_nationkey
          JOIN nation n2 ON n2.n_nationkey = c_nationkey
         WHERE (n1.n_name = '{nation1}' AND n2.n_name = '{nation2}' OR n1.n_name = '{nation2}' AND n2.n_name = '{nation1}')
           AND l_shipdate BETWEEN CAST('1995-01-01' AS date) AND CAST('1996-12-31' AS date)) AS shipping
 GROUP BY supp_nation, cust_nation, l_year
 ORDER BY supp_nation, cust_nation, l_year
