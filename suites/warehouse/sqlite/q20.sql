SELECT s_name, s_address
  FROM supplier
  JOIN nation ON n_nationkey = s_nationkey
 WHERE n_name = '{nation}'
   AND s_suppkey IN (SELECT ps_suppkey
                       FROM partsupp
                      WHERE ps_partkey IN (SELECT p_partkey FROM part WHERE p_name LIKE '{color}%')
                        AND 200 * ps_availqty > (SELECT sum(l_quantity)
                                             FROM lineitem
                                            WHERE l_partkey = ps_partkey
                                              AND l_suppkey = ps_suppkey
                                              AND l_shipdate >= '{date}'
                                              AND l_shipdate < date('{date}', '+1 year')))
 ORDER BY s_name
