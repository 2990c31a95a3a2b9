-- title: customers of some countries with money and no orders
-- class: complex
-- parameter: code1 = 13 from integer 10 to 34
-- parameter: code2 = 31 from integer 10 to 34 but not code1
-- parameter: code3 = 23 from integer 10 to 34 but not code1 code2
-- parameter: code4 = 29 from integer 10 to 34 but not code1 code2 code3
-- parameter: code5 = 30 from integer 10 to 34 but not code1 code2 code3 code4
-- parameter: code6 = 18 from integer 10 to 34 but not code1 code2 code3 code4 code5
-- parameter: code7 = 17 from integer 10 to 34 but not code1 code2 code3 code4 code5 code6
-- column: cntrycode text
-- column: numcust integer
-- column: totacctbal sum 2
-- order: cntrycode
SELECT cntrycode, count(*) AS numcust, sum(c_acctbal) AS totacctbal
  FROM (SELECT substring(c_phone FROM 1 FOR 2) AS cntrycode, c_acctbal
          FROM customer
         WHERE substring(c_phone FROM 1 FOR 2) IN ('{code1}', '{code2}', '{code3}', '{code4}', '{code5}', '{code6}', '{code7}')
           AND c_acctbal > (SELECT avg(c_acctbal)
                              FROM customer
                             WHERE c_acctbal > 0.00
                               AND substring(c_phone FROM 1 FOR 2) IN ('{code1}', '{code2}', '{code3}', '{code4}', '{code5}', '{code6}', '{code7}'))
           AND NOT EXISTS (SELECT * FROM orders WHERE o_custkey = c_custkey)) AS custsale
 GROUP BY cntrycode
 ORDER BY cntrycode
