-- title: share of promoted parts in a month's revenue, in percent
-- class: average
-- parameter: date = 1995-09-01 from month 1993-01 to 1997-12
-- column: promo_revenue average 2
SELECT CAST(100.00 * sum(CASE WHEN p_type LIKE 'PROMO%' THEN l_extendedprice * (1 - l_discount) ELSE 0 END)
            / sum(l_extendedprice * (1 - l_discount)) AS DECIMAL(18, 2)) AS promo_revenue
  FROM lineitem
  JOIN part ON p_partkey = l_partkey
 WHERE l_shipdate >= DATE '{date}'
   AND l_shipdate < DATE '{date}' + INTERVAL '1' MONTH
