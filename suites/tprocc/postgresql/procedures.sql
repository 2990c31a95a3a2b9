-- The five transactions inside the server (workload.form = "procedures"), each one round trip. They follow the same clauses, rules
-- and order of locks as the statements beside this file: warehouse, district, customer, stock by (warehouse, item).
--
-- Whoever calls one may not have a transaction open: each call is a transaction of its own. New-Order is a procedure, because
-- only a procedure may roll back; it ends so without an error when an item is unused. The others have nothing to take back and
-- are functions, which cost the server less per call. There is no EXCEPTION block, which would make each call a subtransaction,
-- and a row that must be there and is not raises no_data_found or too_many_rows.
--
-- A line that ends in "-- under 4" or "-- not under 4" stands only under, or only without, that departure from the clauses
-- (docs/guides/profiles.md).
--
-- Each text is created as it stands; the build notes a hash of it in the manifest and a run compares it, and the body, with these.

-- New-Order (clause 2.4.2). Lines by their number; items that occur twice are taken from stock once, with their sum. s_quantity:
-- see new_order.sql. All lines that have an item are entered before the whole is taken back for one that has none.
-- name: tprocc_new_order()
CREATE PROCEDURE tprocc_new_order(
    p_w_id integer, p_d_id integer, p_c_id integer, p_entry_d timestamptz,
    p_items integer[], p_suppliers integer[], p_quantities integer[],
    OUT o_id integer, OUT w_tax numeric, OUT d_tax numeric, OUT c_discount numeric, OUT c_last text, OUT c_credit text,
    OUT lines_entered integer, OUT total numeric,
    OUT i_names text, OUT s_quantities text, OUT brands text, OUT i_prices text, OUT ol_amounts text)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    supply record;
BEGIN
    SELECT w_tax INTO STRICT w_tax FROM warehouse WHERE w_id = p_w_id;
    UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = p_w_id AND d_id = p_d_id
    RETURNING d_tax, d_next_o_id - 1 INTO STRICT d_tax, o_id;
    SELECT c_discount, c_last, c_credit INTO STRICT c_discount, c_last, c_credit
    FROM customer WHERE c_w_id = p_w_id AND c_d_id = p_d_id AND c_id = p_c_id;

    INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_carrier_id, o_ol_cnt, o_all_local)
    VALUES (o_id, p_d_id, p_w_id, p_c_id, p_entry_d, NULL, cardinality(p_items), (p_w_id = ALL (p_suppliers))::integer);
    INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES (o_id, p_d_id, p_w_id);

    FOR supply IN
        SELECT supplier, item, sum(quantity)::integer AS quantity, count(*)::integer AS lines
        FROM unnest(p_items, p_suppliers, p_quantities) AS line (item, supplier, quantity)
        GROUP BY supplier, item ORDER BY supplier, item
    LOOP
        UPDATE stock SET
            s_ytd = s_ytd + supply.quantity, -- not under 4
            s_order_cnt = s_order_cnt + supply.lines, -- not under 4
            s_remote_cnt = s_remote_cnt + CASE supply.supplier WHEN p_w_id THEN 0 ELSE supply.lines END, -- not under 4
            s_quantity = 10 + ((s_quantity - supply.quantity - 10) % 91 + 91) % 91 -- not under 14
            s_quantity = CASE WHEN s_quantity > supply.quantity THEN s_quantity - supply.quantity -- under 14
                ELSE 1 + ((s_quantity - supply.quantity - 1) % 91 + 91) % 91 END -- under 14
        WHERE s_w_id = supply.supplier AND s_i_id = supply.item;
    END LOOP;

    WITH found AS (
        SELECT number, item, supplier, quantity, i_name, i_price, s_quantity,
            i_price * quantity AS price, -- under 14
            i_price * quantity AS amount, -- not under 14
            round(i_price * quantity * (1 + w_tax + d_tax) * (1 - c_discount), 2) AS amount, -- under 14
            CASE WHEN i_data LIKE '%ORIGINAL%' AND s_data LIKE '%ORIGINAL%' THEN 'B' ELSE 'G' END AS brand,
            CASE p_d_id WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03 WHEN 4 THEN s_dist_04
                WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08
                WHEN 9 THEN s_dist_09 ELSE s_dist_10 END AS dist_info
        FROM unnest(p_items, p_suppliers, p_quantities) WITH ORDINALITY AS line (item, supplier, quantity, number)
        JOIN item ON i_id = item -- not under 6
        JOIN stock ON s_w_id = supplier AND s_i_id = item -- not under 6
        LEFT JOIN item ON i_id = item -- under 6
        LEFT JOIN stock ON s_w_id = supplier AND s_i_id = item -- under 6
        ORDER BY number
    ), entered AS (
        INSERT INTO order_line
            (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_delivery_d, ol_quantity, ol_amount, ol_dist_info)
        SELECT o_id, p_d_id, p_w_id, number, item, supplier, NULL, quantity, amount, dist_info FROM found -- not under 6
        SELECT o_id, p_d_id, p_w_id, number, item, supplier, NULL, quantity, coalesce(amount, 0), -- under 6
            CASE WHEN i_name IS NULL THEN repeat('-', 24) ELSE dist_info END -- under 6
        FROM found -- under 6
    )
    SELECT count(i_name),
        sum(amount) * (1 - c_discount) * (1 + w_tax + d_tax), -- not under 14
        sum(price) * (1 - c_discount) * (1 + w_tax + d_tax), -- under 14
        array_agg(i_name), array_agg(s_quantity), array_agg(brand), array_agg(i_price), array_agg(amount)
    INTO lines_entered, total, i_names, s_quantities, brands, i_prices, ol_amounts
    FROM found;

    IF lines_entered < cardinality(p_items) THEN -- not under 6
        ROLLBACK; -- not under 6
    END IF; -- not under 6
END
$$;

-- Payment (clause 2.5.2). The customer by number, or by last name when the number is null: the middle row in the order of c_first.
-- name: tprocc_payment()
CREATE FUNCTION tprocc_payment(
    p_w_id integer, p_d_id integer, p_c_w_id integer, p_c_d_id integer, p_c_id integer, p_c_last text, p_amount numeric,
    p_date timestamptz,
    OUT c_id integer, OUT c_balance numeric, OUT c_credit text, OUT c_data text, OUT c_first text, OUT c_middle text,
    OUT c_last text, OUT c_street_1 text, OUT c_street_2 text, OUT c_city text, OUT c_state text, OUT c_zip text,
    OUT c_phone text, OUT c_since timestamptz, OUT c_credit_lim numeric, OUT c_discount numeric,
    OUT w_name text, OUT w_street_1 text, OUT w_street_2 text, OUT w_city text, OUT w_state text, OUT w_zip text,
    OUT d_name text, OUT d_street_1 text, OUT d_street_2 text, OUT d_city text, OUT d_state text, OUT d_zip text)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
BEGIN
    UPDATE warehouse SET w_ytd = w_ytd + p_amount WHERE w_id = p_w_id
    RETURNING w_name, w_street_1, w_street_2, w_city, w_state, w_zip
    INTO STRICT w_name, w_street_1, w_street_2, w_city, w_state, w_zip;
    UPDATE district SET d_ytd = d_ytd + p_amount WHERE d_w_id = p_w_id AND d_id = p_d_id
    RETURNING d_name, d_street_1, d_street_2, d_city, d_state, d_zip
    INTO STRICT d_name, d_street_1, d_street_2, d_city, d_state, d_zip;
    UPDATE customer SET
        c_ytd_payment = c_ytd_payment + p_amount, c_payment_cnt = c_payment_cnt + 1, -- not under 4
        c_balance = c_balance - p_amount,
        c_data = CASE c_credit WHEN 'BC' THEN
            left(concat_ws(' ', c_id, c_d_id, c_w_id, p_d_id, p_w_id, p_amount::numeric(6,2), c_data), 500)
            ELSE c_data END
    WHERE c_w_id = p_c_w_id AND c_d_id = p_c_d_id AND c_id = coalesce(p_c_id, (
        SELECT c_id FROM customer WHERE c_w_id = p_c_w_id AND c_d_id = p_c_d_id AND c_last = p_c_last
        ORDER BY c_first, c_id
        LIMIT 1 OFFSET (
            SELECT (count(*) - 1) / 2 -- not under 8
            SELECT greatest(count(*) / 2 - 1, 0) -- under 8
            FROM customer WHERE c_w_id = p_c_w_id AND c_d_id = p_c_d_id AND c_last = p_c_last)))
    RETURNING c_id, c_balance, c_credit, CASE c_credit WHEN 'BC' THEN c_data END, c_first, c_middle, c_last, c_street_1,
        c_street_2, c_city, c_state, c_zip, c_phone, c_since, c_credit_lim, c_discount
    INTO STRICT c_id, c_balance, c_credit, c_data, c_first, c_middle, c_last, c_street_1,
        c_street_2, c_city, c_state, c_zip, c_phone, c_since, c_credit_lim, c_discount;
    INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)
    VALUES (c_id, p_c_d_id, p_c_w_id, p_d_id, p_w_id, p_date, p_amount, w_name || '    ' || d_name);
END
$$;

-- Order-Status (clause 2.6.2), one statement, so that the order and its lines fit each other: a row for each line.
-- name: tprocc_order_status()
CREATE FUNCTION tprocc_order_status(p_w_id integer, p_d_id integer, p_c_id integer, p_c_last text)
RETURNS TABLE (
    c_id integer, c_balance numeric, c_first text, c_middle text, c_last text, o_id integer, o_entry_d timestamptz,
    o_carrier_id integer, ol_i_id integer, ol_supply_w_id integer, ol_quantity integer, ol_amount numeric,
    ol_delivery_d timestamptz)
LANGUAGE sql STABLE AS $$
    SELECT c_id, c_balance, c_first, c_middle, c_last, latest.o_id, o_entry_d, o_carrier_id, ol_i_id, ol_supply_w_id,
        ol_quantity, ol_amount, ol_delivery_d
    FROM customer
    CROSS JOIN LATERAL ( -- not under 5
    LEFT JOIN LATERAL ( -- under 5
        SELECT o_id, o_entry_d, o_carrier_id FROM orders
        WHERE o_w_id = p_w_id AND o_d_id = p_d_id AND o_c_id = customer.c_id
        ORDER BY o_id DESC LIMIT 1
    ) AS latest -- not under 5
    ) AS latest ON true -- under 5
    JOIN order_line ON ol_w_id = p_w_id AND ol_d_id = p_d_id AND ol_o_id = latest.o_id -- not under 5
    LEFT JOIN order_line ON ol_w_id = p_w_id AND ol_d_id = p_d_id AND ol_o_id = latest.o_id -- under 5
    WHERE c_w_id = p_w_id AND c_d_id = p_d_id AND c_id = coalesce(p_c_id, (
        SELECT c_id FROM customer WHERE c_w_id = p_w_id AND c_d_id = p_d_id AND c_last = p_c_last
        ORDER BY c_first, c_id
        LIMIT 1 OFFSET (
            SELECT (count(*) - 1) / 2 -- not under 8
            SELECT greatest(count(*) / 2 - 1, 0) -- under 8
            FROM customer WHERE c_w_id = p_w_id AND c_d_id = p_d_id AND c_last = p_c_last)))
    ORDER BY ol_number
$$;

-- Delivery (clause 2.7.4): a row for each district with the order that was delivered, null where the queue was empty. The
-- head of a queue is taken by the delete itself: see delivery.sql.
-- name: tprocc_delivery()
CREATE FUNCTION tprocc_delivery(p_w_id integer, p_carrier_id integer, p_delivery_d timestamptz)
RETURNS TABLE (d_id integer, delivered integer)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    customer_id integer;
    amount numeric;
BEGIN
    FOR district_id IN 1..10 LOOP
        d_id := district_id;
        DELETE FROM new_order
        WHERE no_w_id = p_w_id AND no_d_id = district_id AND no_o_id = (
            SELECT no_o_id FROM new_order WHERE no_w_id = p_w_id AND no_d_id = district_id
            ORDER BY no_o_id LIMIT 1 FOR UPDATE)
        RETURNING no_o_id INTO delivered;
        IF FOUND THEN
            UPDATE orders SET o_carrier_id = p_carrier_id
            WHERE o_w_id = p_w_id AND o_d_id = district_id AND o_id = delivered
            RETURNING o_c_id INTO STRICT customer_id;
            WITH dated AS (
                UPDATE order_line SET ol_delivery_d = p_delivery_d
                WHERE ol_w_id = p_w_id AND ol_d_id = district_id AND ol_o_id = delivered
                RETURNING ol_amount
            )
            SELECT sum(ol_amount) INTO amount FROM dated;
            IF amount IS NULL THEN
                RAISE no_data_found USING MESSAGE = format('order (%s, %s, %s) has no lines', p_w_id, district_id, delivered);
            END IF;
            UPDATE customer SET
                c_delivery_cnt = c_delivery_cnt + 1, -- not under 4
                c_balance = c_balance + amount
            WHERE c_w_id = p_w_id AND c_d_id = district_id AND c_id = customer_id;
            IF NOT FOUND THEN
                RAISE no_data_found USING MESSAGE =
                    format('the customer of delivered order (%s, %s, %s) does not exist', p_w_id, district_id, delivered);
            END IF;
        END IF;
        RETURN NEXT;
    END LOOP;
END
$$;

-- Stock-Level (clause 2.8.2).
-- name: tprocc_stock_level()
CREATE FUNCTION tprocc_stock_level(p_w_id integer, p_d_id integer, p_threshold integer)
RETURNS TABLE (next_o_id integer, low_stock bigint)
LANGUAGE sql STABLE AS $$
    SELECT d_next_o_id, (
        SELECT count(DISTINCT s_i_id) FROM order_line JOIN stock ON s_w_id = ol_w_id AND s_i_id = ol_i_id
        WHERE ol_w_id = d_w_id AND ol_d_id = d_id AND ol_o_id >= d_next_o_id - 20 AND ol_o_id < d_next_o_id
            AND s_quantity < p_threshold)
    FROM district WHERE d_w_id = p_w_id AND d_id = p_d_id
$$;
