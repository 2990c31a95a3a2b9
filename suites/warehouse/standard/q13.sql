-- title: how many customers have how many orders without a remark
-- class: complex
-- parameter: word1 = special from list remarks
-- parameter: word2 = requests from list matters
-- column: c_count integer
-- column: custdist integer
-- order: custdist, c_count
SELECT c_count, count(*) AS custdist
  FROM (SELECT c_custkey, count(o_orderkey) AS c_count
          FROM customer
          LEFT JOIN orders ON o_custkey = c_custkey AND o_comment NOT LIKE '%{word1}%{word2}%'
         GROUP BY c_custkey) AS c_orders
 GROUP BY c_count
 ORDER BY custdist DESC, c_count DESC
