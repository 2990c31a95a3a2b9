SELECT sum(l_extendedprice * l_discount) AS revenue
  FROM lineitem
 WHERE l_shipdate >= '{date}'
   AND l_shipdate < date('{date}', '+1 year')
   AND l_discount BETWEEN round(100 * {discount}) - 1 AND round(100 * {discount}) + 1
   AND l_quantity < 100 * {quantity}
