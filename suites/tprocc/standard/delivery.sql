-- Delivery (clause 2.7.4), one transaction for ten districts. A queue's head is taken by the delete itself, so that no order
-- is delivered twice; a second delivery of the same warehouse waits and then takes the next.

-- name: delivery_take(w_id, d_id) columns=1
DELETE FROM new_order
WHERE no_w_id = :w_id AND no_d_id = :d_id
    AND no_o_id = (SELECT min(no_o_id) FROM new_order WHERE no_w_id = :w_id AND no_d_id = :d_id)
RETURNING no_o_id;

-- name: delivery_order(w_id, d_id, o_id, carrier_id) columns=1
UPDATE orders SET o_carrier_id = :carrier_id WHERE o_w_id = :w_id AND o_d_id = :d_id AND o_id = :o_id RETURNING o_c_id;

-- name: delivery_lines(w_id, d_id, o_id, delivery_d) columns=1
UPDATE order_line SET ol_delivery_d = :delivery_d WHERE ol_w_id = :w_id AND ol_d_id = :d_id AND ol_o_id = :o_id
RETURNING ol_amount;

-- name: delivery_customer(w_id, d_id, c_id, amount)
UPDATE customer SET
    c_delivery_cnt = c_delivery_cnt + 1, -- not under 4
    c_balance = c_balance + :amount
WHERE c_w_id = :w_id AND c_d_id = :d_id AND c_id = :c_id;
