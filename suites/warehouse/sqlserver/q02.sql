SELECT TOP 100 s_acctbal, s_name, n_name, p_partkey, p_mfgr, s_address, s_phone, s_comment
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
