WITH revenue AS (
    SELECT l_suppkey AS supplier_no, sum(l_extendedprice * (1 - l_discount)) AS total_revenue
      FROM lineitem
     WHERE l_shipdate >= CAST('{date}' AS date)
       AND l_shipdate < DATEADD(month, 3, CAST('{date}' AS date))
     GROUP BY l_suppkey)
SELECT s_suppkey, s_name, s_address, s_phone, total_revenue
  FROM supplier
  JOIN revenue ON supplier_no = s_suppkey
 WHERE total_revenue = (SELECT max(total_revenue) FROM revenue)
 ORDER BY s_suppkey
