-- New-Order (clause 2.4.2). Nothing of the first flight needs the order's number; the second flight inserts.

-- name: new_order_warehouse(w_id) columns=1
SELECT w_tax FROM warehouse WHERE w_id = :w_id;

-- name: new_order_district(w_id, d_id) columns=2
UPDATE district SET d_next_o_id = d_next_o_id + 1
WHERE d_w_id = :w_id AND d_id = :d_id
RETURNING d_tax, d_next_o_id - 1;

-- name: new_order_customer(w_id, d_id, c_id) columns=3
SELECT c_discount, c_last, c_credit FROM customer WHERE c_w_id = :w_id AND c_d_id = :d_id AND c_id = :c_id;

-- name: new_order_item(i_id) columns=3
SELECT i_price, i_name, i_data FROM item WHERE i_id = :i_id;

-- The clause takes q from s_quantity, and adds 91 where less than 10 would be left: the value modulo 91 within 10..100.
-- Written so, the sum of several lines of one item gives what the lines would give one after the other; under departure 14 it adds 91
-- where less than 1 would be left.
-- name: new_order_stock(w_id, i_id, d_id, quantity, lines, remote_lines) columns=3 -- not under 4
-- name: new_order_stock(w_id, i_id, d_id, quantity) columns=3 -- under 4
UPDATE stock SET
    s_ytd = s_ytd + :quantity, -- not under 4
    s_order_cnt = s_order_cnt + :lines, -- not under 4
    s_remote_cnt = s_remote_cnt + :remote_lines, -- not under 4
    s_quantity = 10 + ((s_quantity - :quantity - 10) % 91 + 91) % 91 -- not under 14
    s_quantity = CASE WHEN s_quantity > :quantity THEN s_quantity - :quantity -- under 14
        ELSE 1 + ((s_quantity - :quantity - 1) % 91 + 91) % 91 END -- under 14
WHERE s_w_id = :w_id AND s_i_id = :i_id
RETURNING s_quantity,
    CASE :d_id WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03 WHEN 4 THEN s_dist_04 WHEN 5 THEN s_dist_05
        WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08 WHEN 9 THEN s_dist_09 ELSE s_dist_10 END,
    s_data;

-- name: new_order_order(w_id, d_id, o_id, c_id, entry_d, ol_cnt, all_local)
INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_carrier_id, o_ol_cnt, o_all_local)
VALUES (:o_id, :d_id, :w_id, :c_id, :entry_d, NULL, :ol_cnt, :all_local);

-- name: new_order_queue(w_id, d_id, o_id)
INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES (:o_id, :d_id, :w_id);

-- name: new_order_line(w_id, d_id, o_id, number, i_id, supply_w_id, quantity, amount, dist_info)
INSERT INTO order_line
    (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_delivery_d, ol_quantity, ol_amount, ol_dist_info)
VALUES (:o_id, :d_id, :w_id, :number, :i_id, :supply_w_id, NULL, :quantity, :amount, :dist_info);
