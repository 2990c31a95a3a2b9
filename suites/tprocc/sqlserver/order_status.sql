-- The offset of a page may be no subquery here, so rows are numbered.

-- name: order_status_customer_by_name(w_id, d_id, last) columns=5
SELECT c_id, c_balance, c_first, c_middle, c_last
FROM (
    SELECT c_id, c_balance, c_first, c_middle, c_last, row_number() OVER (ORDER BY c_first, c_id) AS place,
        count(*) OVER () AS namesakes
    FROM customer WHERE c_w_id = :w_id AND c_d_id = :d_id AND c_last = :last
) AS named
WHERE place = (namesakes + 1) / 2; -- not under 8
WHERE place = CASE WHEN namesakes < 2 THEN 1 ELSE namesakes / 2 END; -- under 8

-- name: order_status_order(w_id, d_id, c_id) columns=8
SELECT o_id, o_entry_d, o_carrier_id, ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d
FROM (
    SELECT TOP 1 o_w_id, o_d_id, o_id, o_entry_d, o_carrier_id FROM orders
    WHERE o_w_id = :w_id AND o_d_id = :d_id AND o_c_id = :c_id
    ORDER BY o_id DESC
) AS latest
JOIN order_line ON ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id
ORDER BY ol_number;
