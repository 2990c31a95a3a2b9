SELECT TOP 100 s_name, count(*) AS numwait
  FROM supplier
  JOIN lineitem l1 ON l1.l_suppkey = s_suppkey
  JOIN orders ON o_orderkey = l1.l_orderkey
  JOIN nation ON n_nationkey = s_nationkey
 WHERE o_orderstatus = 'F'
   AND l1.l_receiptdate > l1.l_commitdate
   AND n_name = '{nation}'
   AND EXISTS (SELECT * FROM lineitem l2 WHERE l2.l_orderkey = l1.l_orderkey AND l2.l_suppkey <> l1.l_suppkey)
   AND NOT EXISTS (SELECT *
                     FROM lineitem l3
                    WHERE l3.l_orderkey = l1.l_orderkey
                      AND l3.l_suppkey <> l1.l_suppkey
                      AND l3.l_receiptdate > l3.l_commitdate)
 GROUP BY s_name
 ORDER BY numwait DESC, s_name
