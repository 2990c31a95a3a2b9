-- title: the supplier with the highest revenue of a quarter
-- class: complex
-- parameter: date = 1996-01-01 from month 1993-01 to 1997-10
-- column: s_suppkey integer
-- column: s_name text
-- column: s_address text
-- column: s_phone text
-- column: total_revenue sum 4
-- order: s_suppkey
WITH revenue AS (
    SELECT l_suppkey AS supplier_no, sum(l_extendedprice * (1 - l_discount)) AS total_revenue
      FROM lineitem
     WHERE l_shipdate >= DATE '{date}'
       AND l_shipdate < DATE '{date}' + INTERVAL '3' MONTH
     GROUP BY l_suppkey)
SELECT s_suppkey, s_name, s_address, s_phone, total_revenue
  FROM supplier
  JOIN revenue ON supplier_no = s_suppkey
 WHERE total_revenue = (SELECT max(total_revenue) FROM revenue)
 ORDER BY s_suppkey
