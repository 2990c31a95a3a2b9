-- title: discounted revenue of three kinds of parts delivered in person by air
-- class: average
-- parameter: quantity1 = 1 from integer 1 to 10
-- parameter: quantity2 = 10 from integer 10 to 20
-- parameter: quantity3 = 20 from integer 20 to 30
-- parameter: brand1 = Brand#12 from list brands
-- parameter: brand2 = Brand#23 from list brands
-- parameter: brand3 = Brand#34 from list brands
-- column: revenue sum 4
SELECT sum(l_extendedprice * (1 - l_discount)) AS revenue
  FROM lineitem
  JOIN part ON p_partkey = l_partkey
 WHERE l_shipmode IN ('AIR', 'AIR REG')
   AND l_shipinstruct = 'DELIVER IN PERSON'
   AND (p_brand = '{brand1}'
        AND p_container IN ('SM CASE', 'SM BOX', 'SM PACK', 'SM PKG')
        AND l_quantity BETWEEN {quantity1} AND {quantity1} + 10
        AND p_size BETWEEN 1 AND 5
        OR p_brand = '{brand2}'
        AND p_container IN ('MED BAG', 'MED BOX', 'MED PKG', 'MED PACK')
        AND l_quantity BETWEEN {quantity2} AND {quantity2} + 10
        AND p_size BETWEEN 1 AND 10
        OR p_brand = '{brand3}'
        AND p_container IN ('LG CASE', 'LG BOX', 'LG PACK', 'LG PKG')
        AND l_quantity BETWEEN {quantity3} AND {quantity3} + 10
        AND p_size BETWEEN 1 AND 15)
