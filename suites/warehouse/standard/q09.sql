-- title: profit on parts of a colour, by nation and year
-- class: complex
-- parameter: color = green from list colors
-- column: nation text
-- column: o_year integer
-- column: sum_profit sum 4
-- order: nation, o_year
SELECT nation, o_year, sum(amount) AS sum_profit
  FROM (SELECT n_name AS nation,
               EXTRACT(YEAR FROM o_orderdate) AS o_year,
               l_extendedprice * (1 - l_discount) - ps_supplycost * l_quantity AS amount
          FROM part
          JOIN lineitem ON l_partkey = p_partkey
          JOIN partsupp ON ps_partkey = l_partkey AND ps_suppkey = l_suppkey
          JOIN supplier ON s_suppkey = l_suppkey
          JOIN orders ON o_orderkey = l_orderkey
          JOIN nation ON n_nationkey = s_nationkey
         WHERE p_name LIKE '%{color}%') AS profit
 GROUP BY nation, o_year
 ORDER BY nation, o_year DESC
