-- title: orders of a quarter with a late line, by priority
-- class: average
-- parameter: date = 1993-07-01 from month 1993-01 to 1997-10
-- column: o_orderpriority text
-- column: order_count integer
-- order: o_orderpriority
SELECT o_orderpriority, count(*) AS order_count
  FROM orders
 WHERE o_orderdate >= DATE '{date}'
   AND o_orderdate < DATE '{date}' + INTERVAL '3' MONTH
   AND EXISTS (SELECT * FROM lineitem WHERE l_orderkey = o_orderkey AND l_commitdate < l_receiptdate)
 GROUP BY o_orderpriority
 ORDER BY o_orderpriority
