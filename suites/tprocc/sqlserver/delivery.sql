-- The head of the queue is taken by the delete, in the order of the key; a second delivery of the same warehouse waits and then takes the next.
-- READPAST would leave a hole.

-- name: delivery_take(w_id, d_id) columns=1
WITH head AS (
    SELECT TOP 1 no_o_id FROM new_order WITH (ROWLOCK, UPDLOCK) WHERE no_w_id = :w_id AND no_d_id = :d_id ORDER BY no_o_id
)
DELETE FROM head OUTPUT deleted.no_o_id;

-- name: delivery_order(w_id, d_id, o_id, carrier_id) columns=1
UPDATE orders SET o_carrier_id = :carrier_id
OUTPUT inserted.o_c_id
WHERE o_w_id = :w_id AND o_d_id = :d_id AND o_id = :o_id;

-- name: delivery_lines(w_id, d_id, o_id, delivery_d) columns=1
UPDATE order_line SET ol_delivery_d = :delivery_d
OUTPUT inserted.ol_amount
WHERE ol_w_id = :w_id AND ol_d_id = :d_id AND ol_o_id = :o_id;
