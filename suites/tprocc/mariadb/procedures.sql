-- The five transactions inside the server (workload.form = "procedures"), each one round trip. They follow the same clauses, rules
-- and order of locks as the statements beside this file: warehouse, district, customer, stock by (warehouse, item).
--
-- Whoever calls one may not have a transaction open: each call is a transaction of its own, which an error takes back whole. What can be done
-- for a set is done so, because each statement of a routine costs some 50 microseconds. A row that must be there and is not is an error.
--
-- A line that ends in "-- under 4" or "-- not under 4" stands only under, or only without, that departure from the clauses
-- (docs/guides/profiles.md).
--
-- Each text is created as it stands; the build notes a hash of it in the manifest and a run compares it, and the body, with these.

-- New-Order (clause 2.4.2). Lists are JSON arrays, joined by the place of their elements. Items that occur twice are taken from stock once,
-- with their sum: a joined update changes a row once, whatever the number of matches. The limit keeps the order in which stock rows are
-- locked, which a derived table loses without it. All lines that have an item are entered before the whole is taken back for one that has none.
-- name: tprocc_new_order()
CREATE PROCEDURE tprocc_new_order(
    p_w_id integer, p_d_id integer, p_c_id integer, p_entry_d datetime(6), p_items text, p_suppliers text, p_quantities text)
MODIFIES SQL DATA
BEGIN
    DECLARE v_o_id, v_lines integer;
    DECLARE v_w_tax, v_d_tax, v_c_discount decimal(4,4);
    DECLARE v_c_last varchar(16);
    DECLARE v_c_credit char(2);
    DECLARE v_sum decimal(12,2);
    DECLARE v_names, v_quantities, v_brands, v_prices, v_amounts text;
    DECLARE EXIT HANDLER FOR SQLEXCEPTION, NOT FOUND BEGIN ROLLBACK; RESIGNAL; END;
    START TRANSACTION;
    SELECT w_tax INTO v_w_tax FROM warehouse WHERE w_id = p_w_id;
    UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = p_w_id AND d_id = p_d_id;
    SELECT d_tax, d_next_o_id - 1 INTO v_d_tax, v_o_id FROM district WHERE d_w_id = p_w_id AND d_id = p_d_id;
    SELECT c_discount, c_last, c_credit INTO v_c_discount, v_c_last, v_c_credit
    FROM customer WHERE c_w_id = p_w_id AND c_d_id = p_d_id AND c_id = p_c_id;

    INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_carrier_id, o_ol_cnt, o_all_local)
    SELECT v_o_id, p_d_id, p_w_id, p_c_id, p_entry_d, NULL, line_count, all_local
    FROM (
        SELECT count(*) AS line_count, min(supplier = p_w_id) AS all_local
        FROM JSON_TABLE(p_suppliers, '$[*]' COLUMNS (supplier integer PATH '$')) AS line
    ) AS whole;
    INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES (v_o_id, p_d_id, p_w_id);

    UPDATE (
        SELECT supplier, item, CAST(sum(quantity) AS SIGNED) AS quantity, count(*) AS line_count
        FROM JSON_TABLE(p_items, '$[*]' COLUMNS (number FOR ORDINALITY, item integer PATH '$')) AS items
        JOIN JSON_TABLE(p_suppliers, '$[*]' COLUMNS (number FOR ORDINALITY, supplier integer PATH '$')) AS suppliers
            ON suppliers.number = items.number
        JOIN JSON_TABLE(p_quantities, '$[*]' COLUMNS (number FOR ORDINALITY, quantity integer PATH '$')) AS quantities
            ON quantities.number = items.number
        GROUP BY supplier, item ORDER BY supplier, item LIMIT 100
    ) AS supply
    STRAIGHT_JOIN stock ON s_w_id = supply.supplier AND s_i_id = supply.item
    SET
        s_ytd = s_ytd + supply.quantity, -- not under 4
        s_order_cnt = s_order_cnt + supply.line_count, -- not under 4
        s_remote_cnt = s_remote_cnt + CASE supply.supplier WHEN p_w_id THEN 0 ELSE supply.line_count END, -- not under 4
        s_quantity = 10 + ((s_quantity - supply.quantity - 10) % 91 + 91) % 91; -- not under 14
        s_quantity = CASE WHEN s_quantity > supply.quantity THEN s_quantity - supply.quantity -- under 14
            ELSE 1 + ((s_quantity - supply.quantity - 1) % 91 + 91) % 91 END; -- under 14

    INSERT INTO order_line
        (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_delivery_d, ol_quantity, ol_amount, ol_dist_info)
    SELECT v_o_id, p_d_id, p_w_id, items.number, item, supplier, NULL, quantity,
        i_price * quantity, -- not under 6, not under 14
        coalesce(i_price * quantity, 0), -- under 6, not under 14
        coalesce(round(i_price * quantity * (1 + v_w_tax + v_d_tax) * (1 - v_c_discount), 2), 0), -- under 14
        CASE WHEN i_name IS NULL THEN repeat('-', 24) ELSE -- under 6
        CASE p_d_id WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03 WHEN 4 THEN s_dist_04
            WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08
            WHEN 9 THEN s_dist_09 ELSE s_dist_10 END
        END -- under 6
    FROM JSON_TABLE(p_items, '$[*]' COLUMNS (number FOR ORDINALITY, item integer PATH '$')) AS items
    JOIN JSON_TABLE(p_suppliers, '$[*]' COLUMNS (number FOR ORDINALITY, supplier integer PATH '$')) AS suppliers
        ON suppliers.number = items.number
    JOIN JSON_TABLE(p_quantities, '$[*]' COLUMNS (number FOR ORDINALITY, quantity integer PATH '$')) AS quantities
        ON quantities.number = items.number
    JOIN item ON i_id = item -- not under 6
    JOIN stock ON s_w_id = supplier AND s_i_id = item; -- not under 6
    LEFT JOIN item ON i_id = item -- under 6
    LEFT JOIN stock ON s_w_id = supplier AND s_i_id = item; -- under 6

    SELECT count(i_name),
        sum(ol_amount), -- not under 14
        sum(i_price * ol_quantity), -- under 14
        group_concat(i_name ORDER BY ol_number SEPARATOR ','), group_concat(s_quantity ORDER BY ol_number SEPARATOR ','),
        group_concat(CASE WHEN i_data LIKE '%ORIGINAL%' AND s_data LIKE '%ORIGINAL%' THEN 'B' ELSE 'G' END ORDER BY ol_number SEPARATOR ','),
        group_concat(i_price ORDER BY ol_number SEPARATOR ','), group_concat(ol_amount ORDER BY ol_number SEPARATOR ',')
    INTO v_lines, v_sum, v_names, v_quantities, v_brands, v_prices, v_amounts
    FROM order_line
    LEFT JOIN item ON i_id = ol_i_id
    LEFT JOIN stock ON s_w_id = ol_supply_w_id AND s_i_id = ol_i_id
    WHERE ol_w_id = p_w_id AND ol_d_id = p_d_id AND ol_o_id = v_o_id;

    IF v_lines < json_length(p_items) THEN -- not under 6
        ROLLBACK; -- not under 6
    ELSE -- not under 6
        COMMIT;
    END IF; -- not under 6
    SELECT v_o_id, v_w_tax, v_d_tax, v_c_discount, v_c_last, v_c_credit, v_lines,
        v_sum * (1 - v_c_discount) * (1 + v_w_tax + v_d_tax), v_names, v_quantities, v_brands, v_prices, v_amounts;
END;

-- Payment (clause 2.5.2). The customer by number, or by last name when the number is null: the middle row in the order of c_first.
-- name: tprocc_payment()
CREATE PROCEDURE tprocc_payment(
    p_w_id integer, p_d_id integer, p_c_w_id integer, p_c_d_id integer, p_c_id integer, p_c_last varchar(16), p_amount decimal(6,2),
    p_date datetime(6))
MODIFIES SQL DATA
BEGIN
    DECLARE EXIT HANDLER FOR SQLEXCEPTION, NOT FOUND BEGIN ROLLBACK; RESIGNAL; END;
    START TRANSACTION;
    UPDATE warehouse SET w_ytd = w_ytd + p_amount WHERE w_id = p_w_id;
    UPDATE district SET d_ytd = d_ytd + p_amount WHERE d_w_id = p_w_id AND d_id = p_d_id;
    IF p_c_id IS NULL THEN
        SELECT c_id INTO p_c_id FROM (
            SELECT c_id, row_number() OVER (ORDER BY c_first, c_id) AS place, count(*) OVER () AS namesakes
            FROM customer WHERE c_w_id = p_c_w_id AND c_d_id = p_c_d_id AND c_last = p_c_last
        ) AS named
        WHERE place = (namesakes + 1) DIV 2; -- not under 8
        WHERE place = greatest(namesakes DIV 2, 1); -- under 8
    END IF;
    UPDATE customer SET
        c_ytd_payment = c_ytd_payment + p_amount, c_payment_cnt = c_payment_cnt + 1, -- not under 4
        c_balance = c_balance - p_amount,
        c_data = CASE c_credit WHEN 'BC' THEN
            left(concat_ws(' ', c_id, c_d_id, c_w_id, p_d_id, p_w_id, p_amount, c_data), 500)
            ELSE c_data END
    WHERE c_w_id = p_c_w_id AND c_d_id = p_c_d_id AND c_id = p_c_id;
    INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)
    SELECT p_c_id, p_c_d_id, p_c_w_id, p_d_id, p_w_id, p_date, p_amount, concat(w_name, '    ', d_name)
    FROM warehouse JOIN district ON d_w_id = w_id WHERE w_id = p_w_id AND d_id = p_d_id;
    IF row_count() <> 1 THEN
        SIGNAL SQLSTATE '22000' SET MESSAGE_TEXT = 'the warehouse or district of a payment does not exist';
    END IF;
    SELECT c_id, c_balance, c_credit, CASE c_credit WHEN 'BC' THEN c_data END, c_first, c_middle, c_last, c_street_1,
        c_street_2, c_city, c_state, c_zip, c_phone, c_since, c_credit_lim, c_discount,
        w_name, w_street_1, w_street_2, w_city, w_state, w_zip, d_name, d_street_1, d_street_2, d_city, d_state, d_zip
    FROM customer JOIN warehouse ON w_id = p_w_id JOIN district ON d_w_id = p_w_id AND d_id = p_d_id
    WHERE c_w_id = p_c_w_id AND c_d_id = p_c_d_id AND c_id = p_c_id;
    IF found_rows() <> 1 THEN
        SIGNAL SQLSTATE '22000' SET MESSAGE_TEXT = 'the customer of a payment does not exist';
    END IF;
    COMMIT;
END;

-- Order-Status (clause 2.6.2): the order and its lines come by one statement, so that they fit each other: a row for each line.
-- name: tprocc_order_status()
CREATE PROCEDURE tprocc_order_status(p_w_id integer, p_d_id integer, p_c_id integer, p_c_last varchar(16))
READS SQL DATA
BEGIN
    IF p_c_id IS NULL THEN
        SELECT c_id INTO p_c_id FROM (
            SELECT c_id, row_number() OVER (ORDER BY c_first, c_id) AS place, count(*) OVER () AS namesakes
            FROM customer WHERE c_w_id = p_w_id AND c_d_id = p_d_id AND c_last = p_c_last
        ) AS named
        WHERE place = (namesakes + 1) DIV 2; -- not under 8
        WHERE place = greatest(namesakes DIV 2, 1); -- under 8
    END IF;
    SELECT c_id, c_balance, c_first, c_middle, c_last, o_id, o_entry_d, o_carrier_id, ol_i_id, ol_supply_w_id, ol_quantity, ol_amount,
        ol_delivery_d
    FROM customer
    JOIN orders ON o_w_id = p_w_id AND o_d_id = p_d_id AND o_id = ( -- not under 5
    LEFT JOIN orders ON o_w_id = p_w_id AND o_d_id = p_d_id AND o_id = ( -- under 5
        SELECT max(o_id) FROM orders WHERE o_w_id = p_w_id AND o_d_id = p_d_id AND o_c_id = p_c_id)
    JOIN order_line ON ol_w_id = p_w_id AND ol_d_id = p_d_id AND ol_o_id = o_id -- not under 5
    LEFT JOIN order_line ON ol_w_id = p_w_id AND ol_d_id = p_d_id AND ol_o_id = o_id -- under 5
    WHERE c_w_id = p_w_id AND c_d_id = p_d_id AND c_id = p_c_id
    ORDER BY ol_number;
END;

-- Delivery (clause 2.7.4): a row for each district with the order that was delivered, null where the queue was empty. The locking read waits
-- for a delivery in flight, passes over what it took and returns the next.
-- name: tprocc_delivery()
CREATE PROCEDURE tprocc_delivery(p_w_id integer, p_carrier_id integer, p_delivery_d datetime(6))
MODIFIES SQL DATA
BEGIN
    DECLARE v_d_id integer DEFAULT 1;
    DECLARE v_o_id, v_c_id integer;
    DECLARE v_amount decimal(12,2);
    DECLARE v_delivered text DEFAULT '';
    DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END;
    DECLARE CONTINUE HANDLER FOR NOT FOUND BEGIN END;
    START TRANSACTION;
    WHILE v_d_id <= 10 DO
        SET v_o_id = NULL, v_c_id = NULL, v_amount = NULL;
        SELECT no_o_id INTO v_o_id FROM new_order WHERE no_w_id = p_w_id AND no_d_id = v_d_id ORDER BY no_o_id LIMIT 1 FOR UPDATE;
        IF v_o_id IS NOT NULL THEN
            DELETE FROM new_order WHERE no_w_id = p_w_id AND no_d_id = v_d_id AND no_o_id = v_o_id;
            IF row_count() <> 1 THEN
                SIGNAL SQLSTATE '22000' SET MESSAGE_TEXT = 'the head of a queue is gone though it was locked';
            END IF;
            UPDATE orders SET o_carrier_id = p_carrier_id WHERE o_w_id = p_w_id AND o_d_id = v_d_id AND o_id = v_o_id;
            SELECT o_c_id INTO v_c_id FROM orders WHERE o_w_id = p_w_id AND o_d_id = v_d_id AND o_id = v_o_id;
            UPDATE order_line SET ol_delivery_d = p_delivery_d WHERE ol_w_id = p_w_id AND ol_d_id = v_d_id AND ol_o_id = v_o_id;
            SELECT sum(ol_amount) INTO v_amount FROM order_line WHERE ol_w_id = p_w_id AND ol_d_id = v_d_id AND ol_o_id = v_o_id;
            IF v_c_id IS NULL OR v_amount IS NULL THEN
                SIGNAL SQLSTATE '22000' SET MESSAGE_TEXT = 'a delivered order does not exist or has no lines';
            END IF;
            UPDATE customer SET
                c_delivery_cnt = c_delivery_cnt + 1, -- not under 4
                c_balance = c_balance + v_amount
            WHERE c_w_id = p_w_id AND c_d_id = v_d_id AND c_id = v_c_id;
            IF row_count() <> 1 THEN
                SIGNAL SQLSTATE '22000' SET MESSAGE_TEXT = 'the customer of a delivered order does not exist';
            END IF;
        END IF;
        SET v_delivered = concat(v_delivered, CASE v_d_id WHEN 1 THEN '[' ELSE ',' END, coalesce(v_o_id, 'null')), v_d_id = v_d_id + 1;
    END WHILE;
    COMMIT;
    SELECT d_id, delivered
    FROM JSON_TABLE(concat(v_delivered, ']'), '$[*]' COLUMNS (d_id FOR ORDINALITY, delivered integer PATH '$')) AS answer;
END;

-- Stock-Level (clause 2.8.2).
-- name: tprocc_stock_level()
CREATE PROCEDURE tprocc_stock_level(p_w_id integer, p_d_id integer, p_threshold integer)
READS SQL DATA
BEGIN
    SELECT d_next_o_id, (
        SELECT count(DISTINCT s_i_id) FROM order_line JOIN stock ON s_w_id = ol_w_id AND s_i_id = ol_i_id
        WHERE ol_w_id = d_w_id AND ol_d_id = d_id AND ol_o_id >= d_next_o_id - 20 AND ol_o_id < d_next_o_id
            AND s_quantity < p_threshold)
    FROM district WHERE d_w_id = p_w_id AND d_id = p_d_id;
END;
