-- title: what small discounts of a year cost
-- class: simple
-- parameter: date = 1994-01-01 from year 1993 to 1997
-- parameter: discount = 0.06 from decimal 0.02 to 0.09
-- parameter: quantity = 24 from integer 24 to 25
-- column: revenue sum 4
SELECT sum(l_extendedprice * l_discount) AS revenue
  FROM lineitem
 WHERE l_shipdate >= DATE '{date}'
   AND l_shipdate < DATE '{date}' + INTERVAL '1' YEAR
   AND l_discount BETWEEN {discount} - 0.01 AND {discount} + 0.01
   AND l_quantity < {quantity}
