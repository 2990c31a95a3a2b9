-- title: yearly revenue lost without small orders of one kind of part
-- class: complex
-- parameter: brand = Brand#23 from list brands
-- parameter: container = MED BOX from lists container_sizes container_kinds
-- column: avg_yearly average 2
SELECT CAST(sum(l_extendedprice) / 7.0 AS DECIMAL(18, 2)) AS avg_yearly
  FROM lineitem
  JOIN part ON p_partkey = l_partkey
 WHERE p_brand = '{brand}'
   AND p_container = '{container}'
   AND l_quantity < (SELECT 0.2 * avg(l.l_quantity) FROM lineitem l WHERE l.l_partkey = p_partkey)
