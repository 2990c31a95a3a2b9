SELECT CAST(100.00 * sum(CASE WHEN p_type LIKE 'PROMO%' THEN l_extendedprice * (1 - l_discount) ELSE 0 END)
            / sum(l_extendedprice * (1 - l_discount)) AS DECIMAL(18, 2)) AS promo_revenue
  FROM lineitem
  JOIN part ON p_partkey = l_partkey
 WHERE l_shipdate >= CAST('{date}' AS date)
   AND l_shipdate < DATEADD(month, 1, CAST('{date}' AS date))
