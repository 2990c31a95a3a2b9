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
                                              AND l_shipdate >= CAST('{date}' AS date)
                                              AND l_shipdate < DATEADD(year, 1, CAST('{date}' AS date))))
 ORDER BY s_name
