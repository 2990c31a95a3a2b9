-- Order-Status (clause 2.6.2). The order and its lines come by one statement, so that they fit each other at any isolation.

-- name: order_status_customer_by_id(w_id, d_id, c_id) columns=5
SELECT c_id, c_balance, c_first, c_middle, c_last FROM customer WHERE c_w_id = :w_id AND c_d_id = :d_id AND c_id = :c_id;

-- name: order_status_customer_by_name(w_id, d_id, last) columns=5
SELECT c_id, c_balance, c_first, c_middle, c_last FROM customer
WHERE c_w_id = :w_id AND c_d_id = :d_id AND c_last = :last
ORDER BY c_first, c_id
LIMIT 1 OFFSET (
    SELECT (count(*) - 1) / 2 -- not under 8
    SELECT greatest(count(*) / 2 - 1, 0) -- under 8
    FROM customer WHERE c_w_id = :w_id AND c_d_id = :d_id AND c_last = :last);

-- name: order_status_order(w_id, d_id, c_id) columns=8
SELECT o_id, o_entry_d, o_carrier_id, ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d
FROM (
    SELECT o_w_id, o_d_id, o_id, o_entry_d, o_carrier_id FROM orders
    WHERE o_w_id = :w_id AND o_d_id = :d_id AND o_c_id = :c_id
    ORDER BY o_id DESC LIMIT 1
) AS latest
JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
ORDER BY ol_number;
