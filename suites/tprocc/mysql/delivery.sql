-- No statement returns what it deletes or updates, so several are sent together: each below is prepared by itself. The head of a queue is locked
-- by the read, which waits for a delivery in flight and passes over what it took; its number is kept as the last id, which is 0 before, so that
-- nothing is deleted of a queue that was empty.

-- name: delivery_take(w_id, d_id) columns=1
DO LAST_INSERT_ID(0);
SELECT LAST_INSERT_ID(no_o_id) FROM new_order WHERE no_w_id = :w_id AND no_d_id = :d_id ORDER BY no_o_id LIMIT 1 FOR UPDATE;
DELETE FROM new_order WHERE no_w_id = :w_id AND no_d_id = :d_id AND no_o_id = LAST_INSERT_ID();

-- name: delivery_order(w_id, d_id, o_id, carrier_id) columns=1
UPDATE orders SET o_carrier_id = :carrier_id WHERE o_w_id = :w_id AND o_d_id = :d_id AND o_id = :o_id;
SELECT o_c_id FROM orders WHERE o_w_id = :w_id AND o_d_id = :d_id AND o_id = :o_id;

-- name: delivery_lines(w_id, d_id, o_id, delivery_d) columns=1
UPDATE order_line SET ol_delivery_d = :delivery_d WHERE ol_w_id = :w_id AND ol_d_id = :d_id AND ol_o_id = :o_id;
SELECT ol_amount FROM order_line WHERE ol_w_id = :w_id AND ol_d_id = :d_id AND ol_o_id = :o_id;
