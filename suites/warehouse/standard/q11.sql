-- title: the parts that make up most of a nation's stock value
-- class: complex
-- parameter: nation = GERMANY from list nations
-- parameter: fraction = 0.0001 over scale
-- column: ps_partkey integer
-- column: value sum 2
-- order: value
SELECT ps_partkey, sum(ps_supplycost * ps_availqty) AS value
  FROM partsupp
  JOIN supplier ON s_suppkey = ps_suppkey
  JOIN nation ON n_nationkey = s_nationkey
 WHERE n_name = '{nation}'
 GROUP BY ps_partkey
HAVING sum(ps_supplycost * ps_availqty) > (SELECT sum(ps_supplycost * ps_availqty) * {fraction}
                                             FROM partsupp
                                             JOIN supplier ON s_suppkey = ps_suppkey
                                             JOIN nation ON n_nationkey = s_nationkey
                                            WHERE n_name = '{nation}')
 ORDER BY value DESC
