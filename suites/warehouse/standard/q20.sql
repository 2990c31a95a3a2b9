-- title: suppliers of a nation with too much of a part in stock
-- class: complex
-- parameter: color = forest from list colors
-- parameter: date = 1994-01-01 from year 1993 to 1997
-- parameter: nation = CANADA from list nations
-- column: s_name text
-- column: s_address text
-- order: s_name
SELECT s_name, s_address
  FROM supplier
  JOIN nation ON n_nationkey = s_nationkey
 WHERE n_name = '{nation}'
   AND s_suppkey IN (SELECT ps_suppkey
                       FROM partsupp
                      WHERE ps_partkey IN (SELECT p_partkey FROM part WHERE p_name LIKE '{color}%')
                        AND ps_availqty > (SELECT 0.5 * sum(l_quantity)
                                             FROM lineitem
                                            WHERE l_partkey = ps_partkey
                                              AND l_suppkey = ps_suppkey
                                              AND l_shipdate >= DATE '{date}'
                                              AND l_shipdate < DATE '{date}' + INTERVAL '1' YEAR))
 ORDER BY s_name
