-- An update returns nothing, so a read of what it left is sent with it: each statement below is prepared by itself.

-- name: new_order_district(w_id, d_id) columns=2
UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = :w_id AND d_id = :d_id;
SELECT d_tax, d_next_o_id - 1 FROM district WHERE d_w_id = :w_id AND d_id = :d_id;

-- See the standard text for the quantity.
-- name: new_order_stock(w_id, i_id, d_id, quantity, lines, remote_lines) columns=3 -- not under 4
-- name: new_order_stock(w_id, i_id, d_id, quantity) columns=3 -- under 4
UPDATE stock SET
    s_ytd = s_ytd + :quantity, -- not under 4
    s_order_cnt = s_order_cnt + :lines, -- not under 4
    s_remote_cnt = s_remote_cnt + :remote_lines, -- not under 4
    s_quantity = 10 + ((s_quantity - :quantity - 10) % 91 + 91) % 91 -- not under 14
    s_quantity = CASE WHEN s_quantity > :quantity THEN s_quantity - :quantity -- under 14
        ELSE 1 + ((s_quantity - :quantity - 1) % 91 + 91) % 91 END -- under 14
WHERE s_w_id = :w_id AND s_i_id = :i_id;
SELECT s_quantity,
    CASE :d_id WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03 WHEN 4 THEN s_dist_04 WHEN 5 THEN s_dist_05
        WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08 WHEN 9 THEN s_dist_09 ELSE s_dist_10 END,
    s_data
FROM stock WHERE s_w_id = :w_id AND s_i_id = :i_id;
