-- CROSS JOIN fixes the order of the tables: one scan of the lines, not an index look-up for each of them by part.
SELECT CAST(round(10000.0 * sum(CASE WHEN p_type LIKE 'PROMO%' THEN l_extendedprice * (100 - l_discount) ELSE 0 END)
            / sum(l_extendedprice * (100 - l_discount))) AS INTEGER) AS promo_revenue
  FROM lineitem
 CROSS JOIN part
 WHERE p_partkey = l_partkey
   AND l_shipdate >= '{date}'
   AND l_shipdate < date('{date}', '+1 month')
