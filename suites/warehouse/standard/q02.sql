-- title: the cheapest supplier of each part of a size and type in a region
-- class: complex
-- parameter: size = 15 from integer 1 to 50
-- parameter: type = BRASS from list type_metals
-- parameter: region = EUROPE from list regions
-- column: s_acctbal decimal 2
-- column: s_name text
-- column: n_name text
-- column: p_partkey integer
-- column: p_mfgr text
-- column: s_address text
-- column: s_phone text
-- column: s_comment text
-- order: s_acctbal, n_name, s_name, p_partkey
SELECT s_acctbal, s_name, n_name, p_partkey, p_mfgr, s_address, s_phone, s_comment
  FROM part
  JOIN partsupp ON ps_partkey = p_partkey
  JOIN supplier ON s_suppkey = ps_suppkey
  JOIN nation ON n_nationkey = s_nationkey
  JOIN region ON r_regionkey = n_regionkey
 WHERE p_size = {size}
   AND p_type LIKE '%{type}'
   AND r_name = '{region}'
   AND ps_supplycost = (SELECT min(ps.ps_supplycost)
                          FROM partsupp ps
                          JOIN supplier s ON s.s_suppkey = ps.ps_suppkey
                          JOIN nation n ON n.n_nationkey = s.s_nationkey
                          JOIN region r ON r.r_regionkey = n.n_regionkey
                         WHERE ps.ps_partkey = p_partkey
                           AND r.r_name = '{region}')
 ORDER BY s_acctbal DESC, n_name, s_name, p_partkey
 LIMIT 100
