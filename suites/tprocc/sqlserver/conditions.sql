-- Intermediate results are temporary tables of the session, which no other sees. A page is TOP here, and its order stands behind it.

-- name: check_orders()
DROP TABLE IF EXISTS #check_orders;
SELECT w_id, d_id, o_id, sum(in_orders) AS in_orders, sum(in_queue) AS in_queue, max(c_id) AS c_id, max(carrier_id) AS carrier_id,
    sum(ol_cnt) AS ol_cnt, sum(line_rows) AS line_rows, sum(dated_rows) AS dated_rows, sum(delivered) AS delivered
INTO #check_orders
FROM (
    SELECT o_w_id AS w_id, o_d_id AS d_id, o_id, 1 AS in_orders, 0 AS in_queue, o_c_id AS c_id, o_carrier_id AS carrier_id,
        o_ol_cnt AS ol_cnt, 0 AS line_rows, 0 AS dated_rows, 0 AS delivered
    FROM orders WHERE o_w_id BETWEEN :low_w AND :high_w
    UNION ALL
    SELECT ol_w_id, ol_d_id, ol_o_id, 0, 0, NULL, NULL, 0, count(*), count(ol_delivery_d),
        sum(CASE WHEN ol_delivery_d IS NULL THEN 0 ELSE ol_amount END)
    FROM order_line WHERE ol_w_id BETWEEN :low_w AND :high_w GROUP BY ol_w_id, ol_d_id, ol_o_id
    UNION ALL
    SELECT no_w_id, no_d_id, no_o_id, 0, 1, NULL, NULL, 0, 0, 0, 0 FROM new_order WHERE no_w_id BETWEEN :low_w AND :high_w
) AS parts
GROUP BY w_id, d_id, o_id;

-- name: check_customers()
DROP TABLE IF EXISTS #check_customers;
SELECT w_id, d_id, c_id, sum(in_customer) AS in_customer, sum(balance) AS balance, sum(ytd_payment) AS ytd_payment,
    sum(payment_cnt) AS payment_cnt, sum(delivery_cnt) AS delivery_cnt, sum(paid) AS paid, sum(payments) AS payments,
    sum(delivered) AS delivered
INTO #check_customers
FROM (
    SELECT c_w_id AS w_id, c_d_id AS d_id, c_id, 1 AS in_customer, c_balance AS balance, c_ytd_payment AS ytd_payment,
        c_payment_cnt AS payment_cnt, c_delivery_cnt AS delivery_cnt, 0 AS paid, 0 AS payments, 0 AS delivered
    FROM customer WHERE c_w_id BETWEEN :low_w AND :high_w
    UNION ALL
    SELECT h_c_w_id, h_c_d_id, h_c_id, 0, 0, 0, 0, 0, sum(h_amount), count(*), 0
    FROM history WHERE h_c_w_id BETWEEN :low_w AND :high_w GROUP BY h_c_w_id, h_c_d_id, h_c_id
    UNION ALL
    SELECT w_id, d_id, coalesce(c_id, 0), 0, 0, 0, 0, 0, 0, 0, delivered FROM #check_orders WHERE delivered <> 0
) AS parts
GROUP BY w_id, d_id, c_id;

-- name: check_districts()
DROP TABLE IF EXISTS #check_districts;
SELECT w_id, d_id, sum(in_district) AS in_district, sum(next_o_id) AS next_o_id, sum(ytd) AS ytd,
    sum(orders) AS orders, sum(queue) AS queue, max(max_o_id) AS max_o_id, max(max_no_o_id) AS max_no_o_id,
    max(min_no_o_id) AS min_no_o_id, sum(ol_cnt) AS ol_cnt, sum(line_rows) AS line_rows, sum(paid) AS paid,
    sum(delivery_cnt) AS delivery_cnt
INTO #check_districts
FROM (
    SELECT d_w_id AS w_id, d_id, 1 AS in_district, d_next_o_id AS next_o_id, d_ytd AS ytd, 0 AS orders, 0 AS queue,
        NULL AS max_o_id, NULL AS max_no_o_id, NULL AS min_no_o_id, 0 AS ol_cnt, 0 AS line_rows, 0 AS paid, 0 AS delivery_cnt
    FROM district WHERE d_w_id BETWEEN :low_w AND :high_w
    UNION ALL
    SELECT w_id, d_id, 0, 0, 0, sum(in_orders), sum(in_queue), max(CASE WHEN in_orders > 0 THEN o_id END),
        max(CASE WHEN in_queue > 0 THEN o_id END), min(CASE WHEN in_queue > 0 THEN o_id END), sum(ol_cnt), sum(line_rows), 0, 0
    FROM #check_orders GROUP BY w_id, d_id
    UNION ALL
    SELECT h_w_id, h_d_id, 0, 0, 0, 0, 0, NULL, NULL, NULL, 0, 0, sum(h_amount), 0
    FROM history WHERE h_w_id BETWEEN :low_w AND :high_w GROUP BY h_w_id, h_d_id
    UNION ALL
    SELECT w_id, d_id, 0, 0, 0, 0, 0, NULL, NULL, NULL, 0, 0, 0, sum(delivery_cnt) FROM #check_customers GROUP BY w_id, d_id
) AS parts
GROUP BY w_id, d_id;

-- name: check_warehouses()
DROP TABLE IF EXISTS #check_warehouses;
SELECT w_id, sum(in_warehouse) AS in_warehouse, sum(ytd) AS ytd, sum(district_ytd) AS district_ytd, sum(paid) AS paid
INTO #check_warehouses
FROM (
    SELECT w_id, 1 AS in_warehouse, w_ytd AS ytd, 0 AS district_ytd, 0 AS paid
    FROM warehouse WHERE w_id BETWEEN :low_w AND :high_w
    UNION ALL
    SELECT w_id, 0, 0, sum(ytd), sum(paid) FROM #check_districts GROUP BY w_id
) AS parts
GROUP BY w_id;

-- name: condition_1() columns=4
SELECT TOP 10 count(*) OVER (), w_id, ytd, district_ytd FROM #check_warehouses
WHERE in_warehouse <> 1 OR ytd <> district_ytd ORDER BY w_id;

-- name: condition_2() columns=6
SELECT TOP 10 count(*) OVER (), w_id, d_id, next_o_id - 1, max_o_id, max_no_o_id FROM #check_districts
WHERE in_district <> 1 OR next_o_id - 1 <> coalesce(max_o_id, 0) OR next_o_id - 1 <> coalesce(max_no_o_id, next_o_id - 1)
ORDER BY w_id, d_id;

-- name: condition_3() columns=5
SELECT TOP 10 count(*) OVER (), w_id, d_id, max_no_o_id - min_no_o_id + 1, queue FROM #check_districts
WHERE queue > 0 AND max_no_o_id - min_no_o_id + 1 <> queue ORDER BY w_id, d_id;

-- name: condition_4() columns=5
SELECT TOP 10 count(*) OVER (), w_id, d_id, ol_cnt, line_rows FROM #check_districts
WHERE ol_cnt <> line_rows ORDER BY w_id, d_id;

-- name: condition_5() columns=6
SELECT TOP 10 count(*) OVER (), w_id, d_id, o_id, carrier_id, in_queue FROM #check_orders
WHERE (in_orders = 1 AND CASE WHEN carrier_id IS NULL THEN 1 ELSE 0 END <> in_queue) OR (in_orders = 0 AND in_queue > 0)
ORDER BY w_id, d_id, o_id;

-- name: condition_6() columns=6
SELECT TOP 10 count(*) OVER (), w_id, d_id, o_id, ol_cnt, line_rows FROM #check_orders
WHERE ol_cnt <> line_rows ORDER BY w_id, d_id, o_id;

-- name: condition_7() columns=7
SELECT TOP 10 count(*) OVER (), w_id, d_id, o_id, carrier_id, dated_rows, line_rows FROM #check_orders
WHERE dated_rows <> CASE WHEN carrier_id IS NULL THEN 0 ELSE line_rows END ORDER BY w_id, d_id, o_id;

-- name: condition_8() columns=4
SELECT TOP 10 count(*) OVER (), w_id, ytd, paid FROM #check_warehouses WHERE ytd <> paid ORDER BY w_id;

-- name: condition_9() columns=5
SELECT TOP 10 count(*) OVER (), w_id, d_id, ytd, paid FROM #check_districts WHERE ytd <> paid ORDER BY w_id, d_id;

-- name: condition_10() columns=6
SELECT TOP 10 count(*) OVER (), w_id, d_id, c_id, balance, delivered - paid FROM #check_customers
WHERE in_customer <> 1 OR balance <> delivered - paid ORDER BY w_id, d_id, c_id;

-- name: condition_11() columns=5
SELECT TOP 10 count(*) OVER (), w_id, d_id, orders - queue, :delivered_at_load + delivery_cnt FROM #check_districts
WHERE orders - queue <> :delivered_at_load + delivery_cnt ORDER BY w_id, d_id;

-- name: condition_12() columns=6
SELECT TOP 10 count(*) OVER (), w_id, d_id, c_id, balance + ytd_payment, delivered FROM #check_customers
WHERE balance + ytd_payment <> delivered ORDER BY w_id, d_id, c_id;

-- Not one of the twelve: the count of payments that each customer carries.
-- name: condition_13() columns=6
SELECT TOP 10 count(*) OVER (), w_id, d_id, c_id, payment_cnt, payments FROM #check_customers
WHERE payment_cnt <> payments ORDER BY w_id, d_id, c_id;

-- name: check_end()
DROP TABLE IF EXISTS #check_warehouses;
DROP TABLE IF EXISTS #check_districts;
DROP TABLE IF EXISTS #check_customers;
DROP TABLE IF EXISTS #check_orders;
