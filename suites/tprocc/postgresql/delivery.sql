-- The locking read waits for a delivery in flight, passes over what it took and returns the next.

-- name: delivery_take(w_id, d_id) columns=1
DELETE FROM new_order
WHERE no_w_id = :w_id AND no_d_id = :d_id
    AND no_o_id = (
        SELECT no_o_id FROM new_order WHERE no_w_id = :w_id AND no_d_id = :d_id ORDER BY no_o_id LIMIT 1 FOR UPDATE)
RETURNING no_o_id;
