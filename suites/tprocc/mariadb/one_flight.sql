-- New-Order and Payment in one flight. Nothing returns what an update leaves, so blocks read it. Locks are taken in the order of the procedures:
-- warehouse, district, customer, stock by (warehouse, item); what is only read is read without a lock.
--
-- The workload reads answers when all has ended, so what must not be committed must fail: a row that is not there gives a null to a column that
-- admits none.

-- The order, its number and its place in the queue, and what is read of warehouse, district and customer.
-- name: new_order_entry(w_id, d_id, c_id, entry_d, ol_cnt, all_local) columns=6
BEGIN NOT ATOMIC
    DECLARE v_o_id integer;
    DECLARE v_w_tax, v_d_tax, v_c_discount decimal(4,4);
    DECLARE v_c_last varchar(16);
    DECLARE v_c_credit char(2);
    UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = :w_id AND d_id = :d_id;
    SELECT w_tax, d_tax, d_next_o_id - 1, c_discount, c_last, c_credit
    INTO v_w_tax, v_d_tax, v_o_id, v_c_discount, v_c_last, v_c_credit
    FROM warehouse JOIN district ON d_w_id = w_id AND d_id = :d_id JOIN customer ON c_w_id = w_id AND c_d_id = d_id AND c_id = :c_id
    WHERE w_id = :w_id;
    INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_carrier_id, o_ol_cnt, o_all_local)
    VALUES (v_o_id, :d_id, :w_id, :c_id, :entry_d, NULL, :ol_cnt, :all_local);
    INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES (v_o_id, :d_id, :w_id);
    SELECT v_w_tax, v_d_tax, v_o_id, v_c_discount, v_c_last, v_c_credit;
END;

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
BEGIN NOT ATOMIC
    DECLARE v_o_id integer DEFAULT (SELECT d_next_o_id - 1 FROM district WHERE d_w_id = :w_id AND d_id = :d_id);
    DECLARE v_factor decimal(10,8) DEFAULT ( -- under 14
        SELECT (1 + w_tax + d_tax) * (1 - c_discount) -- under 14
        FROM warehouse JOIN district ON d_w_id = w_id AND d_id = :d_id JOIN customer ON c_w_id = w_id AND c_d_id = d_id AND c_id = :c_id -- under 14
        WHERE w_id = :w_id); -- under 14
    INSERT INTO order_line
        (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_delivery_d, ol_quantity, ol_amount, ol_dist_info)
    SELECT v_o_id, :d_id, :w_id, items.number, item, supplier, NULL, quantity,
        CASE items.number WHEN :unused THEN 0 ELSE -- under 6
            i_price * quantity -- not under 14
            round(i_price * quantity * v_factor, 2) -- under 14
        END -- under 6
        , CASE items.number WHEN :unused THEN repeat('-', 24) ELSE -- under 6
        , -- not under 6
        CASE :d_id WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03 WHEN 4 THEN s_dist_04 WHEN 5 THEN s_dist_05
            WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08 WHEN 9 THEN s_dist_09 ELSE s_dist_10 END
        END -- under 6
    FROM JSON_TABLE(:items, '$[*]' COLUMNS (number FOR ORDINALITY, item integer PATH '$')) AS items
    JOIN JSON_TABLE(:suppliers, '$[*]' COLUMNS (number FOR ORDINALITY, supplier integer PATH '$')) AS suppliers
        ON suppliers.number = items.number
    JOIN JSON_TABLE(:quantities, '$[*]' COLUMNS (number FOR ORDINALITY, quantity integer PATH '$')) AS quantities
        ON quantities.number = items.number
    LEFT JOIN item ON i_id = item
    LEFT JOIN stock ON s_w_id = supplier AND s_i_id = item
    WHERE items.number <> :unused -- not under 6
    ;
    SELECT i_price, i_name, i_data, s_quantity,
        CASE :d_id WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03 WHEN 4 THEN s_dist_04 WHEN 5 THEN s_dist_05
            WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08 WHEN 9 THEN s_dist_09 ELSE s_dist_10 END,
        s_data
    FROM JSON_TABLE(:items, '$[*]' COLUMNS (number FOR ORDINALITY, item integer PATH '$')) AS items
    JOIN JSON_TABLE(:suppliers, '$[*]' COLUMNS (number FOR ORDINALITY, supplier integer PATH '$')) AS suppliers
        ON suppliers.number = items.number
    LEFT JOIN item ON i_id = item
    LEFT JOIN stock ON s_w_id = supplier AND s_i_id = item
    ORDER BY items.number;
END;

-- The customer, with c_data for bad credit, and the history row.
-- name: payment_booking_by_id(w_id, d_id, c_w_id, c_d_id, c_id, amount, date) columns=16
BEGIN NOT ATOMIC
    UPDATE customer SET
        c_ytd_payment = c_ytd_payment + :amount, c_payment_cnt = c_payment_cnt + 1, -- not under 4
        c_balance = c_balance - :amount,
        c_data = CASE c_credit WHEN 'BC' THEN
            left(concat_ws(' ', c_id, c_d_id, c_w_id, :d_id, :w_id, CAST(:amount AS decimal(6,2)), c_data), 500)
            ELSE c_data END
    WHERE c_w_id = :c_w_id AND c_d_id = :c_d_id AND c_id = :c_id;
    INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)
    VALUES ((SELECT c_id FROM customer WHERE c_w_id = :c_w_id AND c_d_id = :c_d_id AND c_id = :c_id),
        :c_d_id, :c_w_id, :d_id, :w_id, :date, :amount,
        (SELECT concat(w_name, '    ', d_name) FROM warehouse JOIN district ON d_w_id = w_id AND d_id = :d_id WHERE w_id = :w_id));
    SELECT c_id, c_credit, CASE c_credit WHEN 'BC' THEN c_data END, c_first, c_middle, c_last, c_street_1, c_street_2, c_city,
        c_state, c_zip, c_phone, c_since, c_credit_lim, c_discount, c_balance
    FROM customer WHERE c_w_id = :c_w_id AND c_d_id = :c_d_id AND c_id = :c_id;
END;

-- The middle row, position (n + 1) div 2 counted from 1, in the order of c_first; c_id settles equal first names. Under departure 8
-- position n div 2.
-- name: payment_booking_by_name(w_id, d_id, c_w_id, c_d_id, last, amount, date) columns=16
BEGIN NOT ATOMIC
    DECLARE middle integer;
    SELECT c_id INTO middle FROM (
        SELECT c_id, row_number() OVER (ORDER BY c_first, c_id) AS place, count(*) OVER () AS namesakes
        FROM customer WHERE c_w_id = :c_w_id AND c_d_id = :c_d_id AND c_last = :last
    ) AS named
    WHERE place = (namesakes + 1) DIV 2; -- not under 8
    WHERE place = greatest(namesakes DIV 2, 1); -- under 8
    UPDATE customer SET
        c_ytd_payment = c_ytd_payment + :amount, c_payment_cnt = c_payment_cnt + 1, -- not under 4
        c_balance = c_balance - :amount,
        c_data = CASE c_credit WHEN 'BC' THEN
            left(concat_ws(' ', c_id, c_d_id, c_w_id, :d_id, :w_id, CAST(:amount AS decimal(6,2)), c_data), 500)
            ELSE c_data END
    WHERE c_w_id = :c_w_id AND c_d_id = :c_d_id AND c_id = middle;
    INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)
    VALUES (middle, :c_d_id, :c_w_id, :d_id, :w_id, :date, :amount,
        (SELECT concat(w_name, '    ', d_name) FROM warehouse JOIN district ON d_w_id = w_id AND d_id = :d_id WHERE w_id = :w_id));
    SELECT c_id, c_credit, CASE c_credit WHEN 'BC' THEN c_data END, c_first, c_middle, c_last, c_street_1, c_street_2, c_city,
        c_state, c_zip, c_phone, c_since, c_credit_lim, c_discount, c_balance
    FROM customer WHERE c_w_id = :c_w_id AND c_d_id = :c_d_id AND c_id = middle;
END;
