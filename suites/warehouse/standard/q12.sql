-- title: late lines of two ship modes in a year, by urgency of the order
-- class: average
-- parameter: mode1 = MAIL from list modes
-- parameter: mode2 = SHIP from list modes but not mode1
-- parameter: date = 1994-01-01 from year 1993 to 1997
-- column: l_shipmode text
-- column: high_line_count integer
-- column: low_line_count integer
-- order: l_shipmode
SELECT l_shipmode,
       sum(CASE WHEN o_orderpriority IN ('1-URGENT', '2-HIGH') THEN 1 ELSE 0 END) AS high_line_count,
       sum(CASE WHEN o_orderpriority NOT IN ('1-URGENT', '2-HIGH') THEN 1 ELSE 0 END) AS low_line_count
  FROM orders
  JOIN lineitem ON l_orderkey = o_orderkey
 WHERE l_shipmode IN ('{mode1}', '{mode2}')
   AND l_commitdate < l_receiptdate
   AND l_shipdate < l_commitdate
   AND l_receiptdate >= DATE '{date}'
   AND l_receiptdate < DATE '{date}' + INTERVAL '1' YEAR
 GROUP BY l_shipmode
 ORDER BY l_shipmode
