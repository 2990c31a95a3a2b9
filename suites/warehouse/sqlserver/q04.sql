SELECT o_orderpriority, count(*) AS order_count
  FROM orders
 WHERE o_orderdate >= CAST('{date}' AS date)
   AND o_orderdate < DATEADD(month, 3, CAST('{date}' AS date))
   AND EXISTS (SELECT * FROM lineitem WHERE l_orderkey = o_orderkey AND l_commitdate < l_receiptdate)
 GROUP BY o_orderpriority
 ORDER BY o_orderpriority
