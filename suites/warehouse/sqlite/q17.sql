SELECT CAST(round(sum(l_extendedprice) / 7.0) AS INTEGER) AS avg_yearly
  FROM lineitem
  JOIN part ON p_partkey = l_partkey
 WHERE p_brand = '{brand}'
   AND p_container = '{container}'
   AND 5 * l_quantity < (SELECT avg(l.l_quantity) FROM lineitem l WHERE l.l_partkey = p_partkey)
