SELECT sum(l_extendedprice * l_discount) AS revenue
  FROM lineitem
 WHERE l_shipdate >= CAST('{date}' AS date)
   AND l_shipdate < DATEADD(year, 1, CAST('{date}' AS date))
   AND l_discount BETWEEN {discount} - 0.01 AND {discount} + 0.01
   AND l_quantity < {quantity}
