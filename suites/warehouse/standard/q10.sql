-- title: customers who returned the most in a quarter
-- class: average
-- parameter: date = 1993-10-01 from month 1993-02 to 1995-01
-- column: c_custkey integer
-- column: c_name text
-- column: revenue sum 4
-- column: c_acctbal decimal 2
-- column: n_name text
-- column: c_address text
-- column: c_phone text
-- column: c_comment text
-- order: revenue
SELECT c_custkey,
       c_name,
       sum(l_extendedprice * (1 - l_discount)) AS revenue,
       c_acctbal,
       n_name,
       c_address,
       c_phone,
       c_comment
  FROM customer
  JOIN orders ON o_custkey = c_custkey
  JOIN lineitem ON l_orderkey = o_orderkey
  JOIN nation ON n_nationkey = c_nationkey
 WHERE o_orderdate >= DATE '{date}'
   AND o_orderdate < DATE '{date}' + INTERVAL '3' MONTH
   AND l_returnflag = 'R'
 GROUP BY c_custkey, c_name, c_acctbal, c_phone, n_name, c_address, c_comment
 ORDER BY revenue DESC
 LIMIT 20
