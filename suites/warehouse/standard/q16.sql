-- title: suppliers without complaints for parts of eight sizes
-- class: complex
-- parameter: brand = Brand#45 from list brands
-- parameter: type = MEDIUM POLISHED from lists type_sizes type_finishes
-- parameter: size1 = 49 from integer 1 to 50
-- parameter: size2 = 14 from integer 1 to 50 but not size1
-- parameter: size3 = 23 from integer 1 to 50 but not size1 size2
-- parameter: size4 = 45 from integer 1 to 50 but not size1 size2 size3
-- parameter: size5 = 19 from integer 1 to 50 but not size1 size2 size3 size4
-- parameter: size6 = 3 from integer 1 to 50 but not size1 size2 size3 size4 size5
-- parameter: size7 = 36 from integer 1 to 50 but not size1 size2 size3 size4 size5 size6
-- parameter: size8 = 9 from integer 1 to 50 but not size1 size2 size3 size4 size5 size6 size7
-- column: p_brand text
-- column: p_type text
-- column: p_size integer
-- column: supplier_cnt integer
-- order: supplier_cnt, p_brand, p_type, p_size
SELECT p_brand, p_type, p_size, count(DISTINCT ps_suppkey) AS supplier_cnt
  FROM partsupp
  JOIN part ON p_partkey = ps_partkey
 WHERE p_brand <> '{brand}'
   AND p_type NOT LIKE '{type}%'
   AND p_size IN ({size1}, {size2}, {size3}, {size4}, {size5}, {size6}, {size7}, {size8})
   AND ps_suppkey NOT IN (SELECT s_suppkey FROM supplier WHERE s_comment LIKE '%Customer%Complaints%')
 GROUP BY p_brand, p_type, p_size
 ORDER BY supplier_cnt DESC, p_brand, p_type, p_size
