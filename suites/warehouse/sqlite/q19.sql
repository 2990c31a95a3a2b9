-- CROSS JOIN fixes the order of the tables: one scan of the lines, not an index look-up for each of them by part.
SELECT sum(l_extendedprice * (100 - l_discount)) AS revenue
  FROM lineitem
 CROSS JOIN part
 WHERE p_partkey = l_partkey
   AND l_shipmode IN ('AIR', 'AIR REG')
   AND l_shipinstruct = 'DELIVER IN PERSON'
   AND (p_brand = '{brand1}'
        AND p_container IN ('SM CASE', 'SM BOX', 'SM PACK', 'SM PKG')
        AND l_quantity BETWEEN 100 * {quantity1} AND 100 * {quantity1} + 1000
        AND p_size BETWEEN 1 AND 5
        OR p_brand = '{brand2}'
        AND p_container IN ('MED BAG', 'MED BOX', 'MED PKG', 'MED PACK')
        AND l_quantity BETWEEN 100 * {quantity2} AND 100 * {quantity2} + 1000
        AND p_size BETWEEN 1 AND 10
        OR p_brand = '{brand3}'
        AND p_container IN ('LG CASE', 'LG BOX', 'LG PACK', 'LG PKG')
        AND l_quantity BETWEEN 100 * {quantity3} AND 100 * {quantity3} + 1000
        AND p_size BETWEEN 1 AND 15)
