SELECT sum(l_quantity) AS sum_quantity,
       sum(l_extendedprice) AS sum_price,
       sum(l_discount) AS sum_discount,
       sum(l_tax) AS sum_tax,
       COUNT_BIG(*) AS lines
  FROM lineitem
