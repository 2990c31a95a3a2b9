-- New-Order and Payment in one flight: a statement that writes may stand beside others, and what it returns goes into the next without
-- a round trip. Locks are taken in the order of the other texts: warehouse, district, customer, stock by (warehouse, item).
--
-- The end of the transaction is sent with the rest, so what must not be committed must fail: a row that is not there gives a null to a
-- column that admits none. Types are said where nothing else says them.

-- The order, its number and its place in the queue, and what is read of warehouse, district and customer.
-- name: new_order_entry(w_id, d_id, c_id, entry_d, ol_cnt, all_local) columns=6
WITH taxed AS (
    SELECT w_id, w_tax FROM warehouse WHERE w_id = :w_id
), buyer AS (
    SELECT c_id, c_discount, c_last, c_credit FROM customer WHERE c_w_id = :w_id AND c_d_id = :d_id AND c_id = :c_id
), numbered AS (
    UPDATE district SET d_next_o_id = d_next_o_id + 1
    WHERE d_w_id = :w_id AND d_id = :d_id
    RETURNING d_tax, d_next_o_id - 1 AS number
), entered AS (
    INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_carrier_id, o_ol_cnt, o_all_local)
    VALUES ((SELECT number FROM numbered), :d_id, (SELECT w_id FROM taxed), (SELECT c_id FROM buyer), :entry_d, NULL, :ol_cnt, :all_local)
), queued AS (
    INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES ((SELECT number FROM numbered), :d_id, :w_id)
)
SELECT w_tax, d_tax, number, c_discount, c_last, c_credit FROM taxed CROSS JOIN numbered CROSS JOIN buyer;

-- See the standard text for the quantity. What was left is read with the lines. Rows are locked in the order of these calls.
-- name: new_order_supply(w_id, i_id, quantity, lines, remote_lines) -- not under 4
-- name: new_order_supply(w_id, i_id, quantity) -- under 4
UPDATE stock SET
    s_ytd = s_ytd + :quantity, -- not under 4
    s_order_cnt = s_order_cnt + :lines, -- not under 4
    s_remote_cnt = s_remote_cnt + :remote_lines, -- not under 4
    s_quantity = 10 + ((s_quantity - :quantity - 10) % 91 + 91) % 91 -- not under 14
    s_quantity = CASE WHEN s_quantity > :quantity THEN s_quantity - :quantity -- under 14
        ELSE 1 + ((s_quantity - :quantity - 1) % 91 + 91) % 91 END -- under 14
WHERE s_w_id = :w_id AND s_i_id = :i_id;

-- All lines by their number, with what is read of item and stock. That of the unused item has no item; it is not entered, or with
-- nothing to pay under departure 6. Its number is 0 where there is none.
-- name: new_order_lines(w_id, d_id, items, suppliers, quantities, unused) columns=6 -- not under 14
-- name: new_order_lines(w_id, d_id, items, suppliers, quantities, unused, c_id) columns=6 -- under 14
WITH found AS (
    SELECT number, item, supplier, quantity, i_price, i_name, i_data, s_quantity, s_data,
        i_price * quantity AS amount, -- not under 14
        round(i_price * quantity * ( -- under 14
            SELECT (1 + w_tax + d_tax) * (1 - c_discount) FROM warehouse CROSS JOIN district CROSS JOIN customer -- under 14
            WHERE w_id = :w_id AND d_w_id = :w_id AND d_id = :d_id AND c_w_id = :w_id AND c_d_id = :d_id AND c_id = :c_id -- under 14
        ), 2) AS amount, -- under 14
        CASE :d_id::integer WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03 WHEN 4 THEN s_dist_04
            WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08
            WHEN 9 THEN s_dist_09 ELSE s_dist_10 END AS dist_info
    FROM unnest(:items::integer[], :suppliers::integer[], :quantities::integer[])
        WITH ORDINALITY AS line (item, supplier, quantity, number)
    LEFT JOIN item ON i_id = item
    LEFT JOIN stock ON s_w_id = supplier AND s_i_id = item
), entered AS (
    INSERT INTO order_line
        (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_delivery_d, ol_quantity, ol_amount, ol_dist_info)
    SELECT (SELECT d_next_o_id - 1 FROM district WHERE d_w_id = :w_id AND d_id = :d_id), :d_id::integer, :w_id::integer,
        number, item, supplier, NULL, quantity,
        amount, dist_info -- not under 6
        CASE number WHEN :unused::bigint THEN 0 ELSE amount END, -- under 6
        CASE number WHEN :unused::bigint THEN repeat('-', 24) ELSE dist_info END -- under 6
    FROM found
    WHERE number <> :unused::bigint -- not under 6
)
SELECT i_price, i_name, i_data, s_quantity, dist_info, s_data FROM found ORDER BY number;

-- The customer, with c_data for bad credit, and the history row.
-- name: payment_booking_by_id(w_id, d_id, c_w_id, c_d_id, c_id, amount, date) columns=16
WITH paid AS (
    UPDATE customer SET
        c_ytd_payment = c_ytd_payment + :amount, c_payment_cnt = c_payment_cnt + 1, -- not under 4
        c_balance = c_balance - :amount,
        c_data = CASE c_credit WHEN 'BC' THEN
            left(concat_ws(' ', c_id, c_d_id, c_w_id, :d_id::integer, :w_id::integer, :amount::numeric(6,2), c_data), 500)
            ELSE c_data END
    WHERE c_w_id = :c_w_id AND c_d_id = :c_d_id AND c_id = :c_id
    RETURNING c_id, c_credit, CASE c_credit WHEN 'BC' THEN c_data END AS c_data, c_first, c_middle, c_last, c_street_1, c_street_2, c_city,
        c_state, c_zip, c_phone, c_since, c_credit_lim, c_discount, c_balance
), noted AS (
    INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)
    VALUES ((SELECT c_id FROM paid), :c_d_id, :c_w_id, :d_id, :w_id, :date, :amount,
        (SELECT w_name FROM warehouse WHERE w_id = :w_id) || '    ' || (SELECT d_name FROM district WHERE d_w_id = :w_id AND d_id = :d_id))
)
SELECT c_id, c_credit, c_data, c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone, c_since,
    c_credit_lim, c_discount, c_balance
FROM paid;

-- The middle row, position (n + 1) div 2 counted from 1, in the order of c_first; c_id settles equal first names. Under departure 8
-- position n div 2.
-- name: payment_booking_by_name(w_id, d_id, c_w_id, c_d_id, last, amount, date) columns=16
WITH paid AS (
    UPDATE customer SET
        c_ytd_payment = c_ytd_payment + :amount, c_payment_cnt = c_payment_cnt + 1, -- not under 4
        c_balance = c_balance - :amount,
        c_data = CASE c_credit WHEN 'BC' THEN
            left(concat_ws(' ', c_id, c_d_id, c_w_id, :d_id::integer, :w_id::integer, :amount::numeric(6,2), c_data), 500)
            ELSE c_data END
    WHERE c_w_id = :c_w_id AND c_d_id = :c_d_id AND c_id = (
        SELECT c_id FROM customer WHERE c_w_id = :c_w_id AND c_d_id = :c_d_id AND c_last = :last
        ORDER BY c_first, c_id
        LIMIT 1 OFFSET (
            SELECT (count(*) - 1) / 2 -- not under 8
            SELECT greatest(count(*) / 2 - 1, 0) -- under 8
            FROM customer WHERE c_w_id = :c_w_id AND c_d_id = :c_d_id AND c_last = :last))
    RETURNING c_id, c_credit, CASE c_credit WHEN 'BC' THEN c_data END AS c_data, c_first, c_middle, c_last, c_street_1, c_street_2, c_city,
        c_state, c_zip, c_phone, c_since, c_credit_lim, c_discount, c_balance
), noted AS (
    INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)
    VALUES ((SELECT c_id FROM paid), :c_d_id, :c_w_id, :d_id, :w_id, :date, :amount,
        (SELECT w_name FROM warehouse WHERE w_id = :w_id) || '    ' || (SELECT d_name FROM district WHERE d_w_id = :w_id AND d_id = :d_id))
)
SELECT c_id, c_credit, c_data, c_first, c_middle, c_last, c_street_1, c_street_2, c_city, c_state, c_zip, c_phone, c_since,
    c_credit_lim, c_discount, c_balance
FROM paid;
