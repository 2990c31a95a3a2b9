-- The delete waits for a delivery in flight, passes over what it took and takes the next. An update returns nothing, so a block reads what it
-- left.

-- name: delivery_take(w_id, d_id) columns=1
DELETE FROM new_order WHERE no_w_id = :w_id AND no_d_id = :d_id ORDER BY no_o_id LIMIT 1 RETURNING no_o_id;

-- name: delivery_order(w_id, d_id, o_id, carrier_id) columns=1
BEGIN NOT ATOMIC
    UPDATE orders SET o_carrier_id = :carrier_id WHERE o_w_id = :w_id AND o_d_id = :d_id AND o_id = :o_id;
    SELECT o_c_id FROM orders WHERE o_w_id = :w_id AND o_d_id = :d_id AND o_id = :o_id;
END;

-- name: delivery_lines(w_id, d_id, o_id, delivery_d) columns=1
BEGIN NOT ATOMIC
    UPDATE order_line SET ol_delivery_d = :delivery_d WHERE ol_w_id = :w_id AND ol_d_id = :d_id AND ol_o_id = :o_id;
    SELECT ol_amount FROM order_line WHERE ol_w_id = :w_id AND ol_d_id = :d_id AND ol_o_id = :o_id;
END;
