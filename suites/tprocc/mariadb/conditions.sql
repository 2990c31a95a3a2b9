-- Intermediate results are temporary tables: they are made and dropped without committing anything.

-- name: check_orders()
DROP TEMPORARY TABLE IF EXISTS check_orders;
CREATE TEMPORARY TABLE check_orders AS
SELECT w_id, d_id, o_id, sum(in_orders) AS in_orders, sum(in_queue) AS in_queue, max(c_id) AS c_id, max(carrier_id) AS carrier_id,
    sum(ol_cnt) AS ol_cnt, sum(line_rows) AS line_rows, sum(dated_rows) AS dated_rows, sum(delivered) AS delivered
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
DROP TEMPORARY TABLE IF EXISTS check_customers;
CREATE TEMPORARY TABLE check_customers AS
SELECT w_id, d_id, c_id, sum(in_customer) AS in_customer, sum(balance) AS balance, sum(ytd_payment) AS ytd_payment,
    sum(payment_cnt) AS payment_cnt, sum(delivery_cnt) AS delivery_cnt, sum(paid) AS paid, sum(payments) AS payments,
    sum(delivered) AS delivered
FROM (
    SELECT c_w_id AS w_id, c_d_id AS d_id, c_id, 1 AS in_customer, c_balance AS balance, c_ytd_payment AS ytd_payment,
        c_payment_cnt AS payment_cnt, c_delivery_cnt AS delivery_cnt, 0 AS paid, 0 AS payments, 0 AS delivered
    FROM customer WHERE c_w_id BETWEEN :low_w AND :high_w
    UNION ALL
    SELECT h_c_w_id, h_c_d_id, h_c_id, 0, 0, 0, 0, 0, sum(h_amount), count(*), 0
    FROM history WHERE h_c_w_id BETWEEN :low_w AND :high_w GROUP BY h_c_w_id, h_c_d_id, h_c_id
    UNION ALL
    SELECT w_id, d_id, coalesce(c_id, 0), 0, 0, 0, 0, 0, 0, 0, delivered FROM check_orders WHERE delivered <> 0
) AS parts
GROUP BY w_id, d_id, c_id;

-- name: check_districts()
DROP TEMPORARY TABLE IF EXISTS check_districts;
CREATE TEMPORARY TABLE check_districts AS
SELECT w_id, d_id, sum(in_district) AS in_district, sum(next_o_id) AS next_o_id, sum(ytd) AS ytd,
    sum(orders) AS orders, sum(queue) AS queue, max(max_o_id) AS max_o_id, max(max_no_o_id) AS max_no_o_id,
    max(min_no_o_id) AS min_no_o_id, sum(ol_cnt) AS ol_cnt, sum(line_rows) AS line_rows, sum(paid) AS paid,
    sum(delivery_cnt) AS delivery_cnt
FROM (
    SELECT d_w_id AS w_id, d_id, 1 AS in_district, d_next_o_id AS next_o_id, d_ytd AS ytd, 0 AS orders, 0 AS queue,
        NULL AS max_o_id, NULL AS max_no_o_id, NULL AS min_no_o_id, 0 AS ol_cnt, 0 AS line_rows, 0 AS paid, 0 AS delivery_cnt
    FROM district WHERE d_w_id BETWEEN :low_w AND :high_w
    UNION ALL
    SELECT w_id, d_id, 0, 0, 0, sum(in_orders), sum(in_queue), max(CASE WHEN in_orders > 0 THEN o_id END),
        max(CASE WHEN in_queue > 0 THEN o_id END), min(CASE WHEN in_queue > 0 THEN o_id END), sum(ol_cnt), sum(line_rows), 0, 0
    FROM check_orders GROUP BY w_id, d_id
    UNION ALL
    SELECT h_w_id, h_d_id, 0, 0, 0, 0, 0, NULL, NULL, NULL, 0, 0, sum(h_amount), 0
    FROM history WHERE h_w_id BETWEEN :low_w AND :high_w GROUP BY h_w_id, h_d_id
    UNION ALL
    SELECT w_id, d_id, 0, 0, 0, 0, 0, NULL, NULL, NULL, 0, 0, 0, sum(delivery_cnt) FROM check_customers GROUP BY w_id, d_id
) AS parts
GROUP BY w_id, d_id;

-- name: check_warehouses()
DROP TEMPORARY TABLE IF EXISTS check_warehouses;
CREATE TEMPORARY TABLE check_warehouses AS
SELECT w_id, sum(in_warehouse) AS in_warehouse, sum(ytd) AS ytd, sum(district_ytd) AS district_ytd, sum(paid) AS paid
FROM (
    SELECT w_id, 1 AS in_warehouse, w_ytd AS ytd, 0 AS district_ytd, 0 AS paid
    FROM warehouse WHERE w_id BETWEEN :low_w AND :high_w
    UNION ALL
    SELECT w_id, 0, 0, sum(ytd), sum(paid) FROM check_districts GROUP BY w_id
) AS parts
GROUP BY w_id;

-- name: check_end()
DROP TEMPORARY TABLE IF EXISTS check_warehouses;
DROP TEMPORARY TABLE IF EXISTS check_districts;
DROP TEMPORARY TABLE IF EXISTS check_customers;
DROP TEMPORARY TABLE IF EXISTS check_orders;
