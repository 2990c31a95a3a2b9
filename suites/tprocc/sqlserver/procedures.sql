-- The five transactions inside the server (workload.form = "procedures"), each one round trip. New-Order is there twice (workload.lines). They
-- follow the same clauses, rules and order of locks as the statements beside this file: warehouse, district, customer, stock by (warehouse, item).
--
-- Whoever calls one may not have a transaction open: each call is a transaction of its own, which an error takes back whole (XACT_ABORT). An
-- update assigns what it read to variables, so that a row is found once. A row that must be there and is not is error 50001.
--
-- A line that ends in "-- under 4" or "-- not under 4" stands only under, or only without, that departure from the clauses
-- (docs/guides/profiles.md).
--
-- Each text is created as it stands; the build notes a hash of it in the manifest and a run compares it, and the server's copy, with these.

-- New-Order (clause 2.4.2). A list is binary, four bytes for each number, so that nothing is parsed and no type is needed. Items that occur
-- twice are taken from stock once, with their sum: a joined update changes a row once, whatever the number of matches. Its order keeps that in
-- which stock rows are locked. All lines that have an item are entered before the whole is taken back for one that has none.
-- name: tprocc_new_order()
CREATE PROCEDURE tprocc_new_order(
    @w_id int, @d_id int, @c_id int, @entry_d datetime2(6), @items varbinary(8000), @suppliers varbinary(8000), @quantities varbinary(8000))
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
    DECLARE @o_id int, @count int, @w_tax decimal(4,4), @d_tax decimal(4,4), @c_discount decimal(4,4), @c_last varchar(16), @c_credit char(2);
    DECLARE @found int, @sum decimal(12,2), @names varchar(8000), @left varchar(8000), @brands varchar(8000), @prices varchar(8000);
    DECLARE @amounts varchar(8000);
    DECLARE @lines TABLE (number int NOT NULL PRIMARY KEY, item int NOT NULL, supplier int NOT NULL, quantity int NOT NULL);
    INSERT INTO @lines (number, item, supplier, quantity)
    SELECT number, CAST(SUBSTRING(@items, 4 * number - 3, 4) AS int), CAST(SUBSTRING(@suppliers, 4 * number - 3, 4) AS int),
        CAST(SUBSTRING(@quantities, 4 * number - 3, 4) AS int)
    FROM (VALUES (1), (2), (3), (4), (5), (6), (7), (8), (9), (10), (11), (12), (13), (14), (15)) AS place (number)
    WHERE number <= DATALENGTH(@items) / 4;
    SET @count = @@ROWCOUNT;
    BEGIN TRANSACTION;
    SELECT @w_tax = w_tax FROM warehouse WHERE w_id = @w_id;
    UPDATE district SET @d_tax = d_tax, @o_id = d_next_o_id, d_next_o_id = d_next_o_id + 1 WHERE d_w_id = @w_id AND d_id = @d_id;
    SELECT @c_discount = c_discount, @c_last = c_last, @c_credit = c_credit
    FROM customer WHERE c_w_id = @w_id AND c_d_id = @d_id AND c_id = @c_id;
    IF @w_tax IS NULL OR @o_id IS NULL OR @c_discount IS NULL
    BEGIN
        THROW 50001, 'the warehouse, district or customer of an order does not exist', 1;
    END;

    INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_carrier_id, o_ol_cnt, o_all_local)
    SELECT @o_id, @d_id, @w_id, @c_id, @entry_d, NULL, @count, min(CASE supplier WHEN @w_id THEN 1 ELSE 0 END) FROM @lines;
    INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES (@o_id, @d_id, @w_id);

    UPDATE stock SET
        s_ytd = s_ytd + supply.quantity, -- not under 4
        s_order_cnt = s_order_cnt + supply.line_count, -- not under 4
        s_remote_cnt = s_remote_cnt + CASE supply.supplier WHEN @w_id THEN 0 ELSE supply.line_count END, -- not under 4
        s_quantity = 10 + ((s_quantity - supply.quantity - 10) % 91 + 91) % 91 -- not under 14
        s_quantity = CASE WHEN s_quantity > supply.quantity THEN s_quantity - supply.quantity -- under 14
            ELSE 1 + ((s_quantity - supply.quantity - 1) % 91 + 91) % 91 END -- under 14
    FROM (
        SELECT TOP 100 supplier, item, sum(quantity) AS quantity, count(*) AS line_count
        FROM @lines GROUP BY supplier, item ORDER BY supplier, item
    ) AS supply
    INNER LOOP JOIN stock ON s_w_id = supply.supplier AND s_i_id = supply.item
    OPTION (FORCE ORDER, MAXDOP 1);

    INSERT INTO order_line
        (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_delivery_d, ol_quantity, ol_amount, ol_dist_info)
    SELECT @o_id, @d_id, @w_id, number, item, supplier, NULL, quantity,
        i_price * quantity, -- not under 6, not under 14
        coalesce(i_price * quantity, 0), -- under 6, not under 14
        coalesce(round(i_price * quantity * (1 + @w_tax + @d_tax) * (1 - @c_discount), 2), 0), -- under 14
        CASE WHEN i_name IS NULL THEN replicate('-', 24) ELSE -- under 6
        CASE @d_id WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03 WHEN 4 THEN s_dist_04
            WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08
            WHEN 9 THEN s_dist_09 ELSE s_dist_10 END
        END -- under 6
    FROM @lines
    JOIN item ON i_id = item -- not under 6
    JOIN stock ON s_w_id = supplier AND s_i_id = item; -- not under 6
    LEFT JOIN item ON i_id = item -- under 6
    LEFT JOIN stock ON s_w_id = supplier AND s_i_id = item; -- under 6

    SELECT @found = count(i_name),
        @sum = sum(ol_amount), -- not under 14
        @sum = sum(i_price * ol_quantity), -- under 14
        @names = string_agg(i_name, ',') WITHIN GROUP (ORDER BY ol_number),
        @left = string_agg(CAST(s_quantity AS varchar(20)), ',') WITHIN GROUP (ORDER BY ol_number),
        @brands = string_agg(CASE WHEN i_data LIKE '%ORIGINAL%' AND s_data LIKE '%ORIGINAL%' THEN 'B' ELSE 'G' END, ',')
            WITHIN GROUP (ORDER BY ol_number),
        @prices = string_agg(CAST(i_price AS varchar(20)), ',') WITHIN GROUP (ORDER BY ol_number),
        @amounts = string_agg(CAST(ol_amount AS varchar(20)), ',') WITHIN GROUP (ORDER BY ol_number)
    FROM order_line
    LEFT JOIN item ON i_id = ol_i_id
    LEFT JOIN stock ON s_w_id = ol_supply_w_id AND s_i_id = ol_i_id
    WHERE ol_w_id = @w_id AND ol_d_id = @d_id AND ol_o_id = @o_id;

    IF @found < @count -- not under 6
        ROLLBACK TRANSACTION; -- not under 6
    ELSE -- not under 6
        COMMIT TRANSACTION;
    SELECT @o_id, @w_tax, @d_tax, @c_discount, @c_last, @c_credit, @found,
        @sum * (1 - @c_discount) * (1 + @w_tax + @d_tax), @names, @left, @brands, @prices, @amounts;
END;

-- New-Order whose lines come as rows of one table (workload.lines = "table"), numbered by their places. From the beginning of its transaction
-- on it is the one above. The server may take such a table for one row; the hints hold the order in which stock is locked whatever it takes it for.
-- name: tprocc_new_order_by_table()
CREATE PROCEDURE tprocc_new_order_by_table(
    @w_id int, @d_id int, @c_id int, @entry_d datetime2(6), @lines tprocc_order_lines READONLY)
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
    DECLARE @o_id int, @count int, @w_tax decimal(4,4), @d_tax decimal(4,4), @c_discount decimal(4,4), @c_last varchar(16), @c_credit char(2);
    DECLARE @found int, @sum decimal(12,2), @names varchar(8000), @left varchar(8000), @brands varchar(8000), @prices varchar(8000);
    DECLARE @amounts varchar(8000);
    SELECT @count = count(*) FROM @lines;
    BEGIN TRANSACTION;
    SELECT @w_tax = w_tax FROM warehouse WHERE w_id = @w_id;
    UPDATE district SET @d_tax = d_tax, @o_id = d_next_o_id, d_next_o_id = d_next_o_id + 1 WHERE d_w_id = @w_id AND d_id = @d_id;
    SELECT @c_discount = c_discount, @c_last = c_last, @c_credit = c_credit
    FROM customer WHERE c_w_id = @w_id AND c_d_id = @d_id AND c_id = @c_id;
    IF @w_tax IS NULL OR @o_id IS NULL OR @c_discount IS NULL
    BEGIN
        THROW 50001, 'the warehouse, district or customer of an order does not exist', 1;
    END;

    INSERT INTO orders (o_id, o_d_id, o_w_id, o_c_id, o_entry_d, o_carrier_id, o_ol_cnt, o_all_local)
    SELECT @o_id, @d_id, @w_id, @c_id, @entry_d, NULL, @count, min(CASE supplier WHEN @w_id THEN 1 ELSE 0 END) FROM @lines;
    INSERT INTO new_order (no_o_id, no_d_id, no_w_id) VALUES (@o_id, @d_id, @w_id);

    UPDATE stock SET
        s_ytd = s_ytd + supply.quantity, -- not under 4
        s_order_cnt = s_order_cnt + supply.line_count, -- not under 4
        s_remote_cnt = s_remote_cnt + CASE supply.supplier WHEN @w_id THEN 0 ELSE supply.line_count END, -- not under 4
        s_quantity = 10 + ((s_quantity - supply.quantity - 10) % 91 + 91) % 91 -- not under 14
        s_quantity = CASE WHEN s_quantity > supply.quantity THEN s_quantity - supply.quantity -- under 14
            ELSE 1 + ((s_quantity - supply.quantity - 1) % 91 + 91) % 91 END -- under 14
    FROM (
        SELECT TOP 100 supplier, item, sum(quantity) AS quantity, count(*) AS line_count
        FROM @lines GROUP BY supplier, item ORDER BY supplier, item
    ) AS supply
    INNER LOOP JOIN stock ON s_w_id = supply.supplier AND s_i_id = supply.item
    OPTION (FORCE ORDER, MAXDOP 1);

    INSERT INTO order_line
        (ol_o_id, ol_d_id, ol_w_id, ol_number, ol_i_id, ol_supply_w_id, ol_delivery_d, ol_quantity, ol_amount, ol_dist_info)
    SELECT @o_id, @d_id, @w_id, number, item, supplier, NULL, quantity,
        i_price * quantity, -- not under 6, not under 14
        coalesce(i_price * quantity, 0), -- under 6, not under 14
        coalesce(round(i_price * quantity * (1 + @w_tax + @d_tax) * (1 - @c_discount), 2), 0), -- under 14
        CASE WHEN i_name IS NULL THEN replicate('-', 24) ELSE -- under 6
        CASE @d_id WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03 WHEN 4 THEN s_dist_04
            WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08
            WHEN 9 THEN s_dist_09 ELSE s_dist_10 END
        END -- under 6
    FROM @lines
    JOIN item ON i_id = item -- not under 6
    JOIN stock ON s_w_id = supplier AND s_i_id = item; -- not under 6
    LEFT JOIN item ON i_id = item -- under 6
    LEFT JOIN stock ON s_w_id = supplier AND s_i_id = item; -- under 6

    SELECT @found = count(i_name),
        @sum = sum(ol_amount), -- not under 14
        @sum = sum(i_price * ol_quantity), -- under 14
        @names = string_agg(i_name, ',') WITHIN GROUP (ORDER BY ol_number),
        @left = string_agg(CAST(s_quantity AS varchar(20)), ',') WITHIN GROUP (ORDER BY ol_number),
        @brands = string_agg(CASE WHEN i_data LIKE '%ORIGINAL%' AND s_data LIKE '%ORIGINAL%' THEN 'B' ELSE 'G' END, ',')
            WITHIN GROUP (ORDER BY ol_number),
        @prices = string_agg(CAST(i_price AS varchar(20)), ',') WITHIN GROUP (ORDER BY ol_number),
        @amounts = string_agg(CAST(ol_amount AS varchar(20)), ',') WITHIN GROUP (ORDER BY ol_number)
    FROM order_line
    LEFT JOIN item ON i_id = ol_i_id
    LEFT JOIN stock ON s_w_id = ol_supply_w_id AND s_i_id = ol_i_id
    WHERE ol_w_id = @w_id AND ol_d_id = @d_id AND ol_o_id = @o_id;

    IF @found < @count -- not under 6
        ROLLBACK TRANSACTION; -- not under 6
    ELSE -- not under 6
        COMMIT TRANSACTION;
    SELECT @o_id, @w_tax, @d_tax, @c_discount, @c_last, @c_credit, @found,
        @sum * (1 - @c_discount) * (1 + @w_tax + @d_tax), @names, @left, @brands, @prices, @amounts;
END;

-- Payment (clause 2.5.2). The customer by number, or by last name when the number is null: the middle row in the order of c_first.
-- name: tprocc_payment()
CREATE PROCEDURE tprocc_payment(
    @w_id int, @d_id int, @c_w_id int, @c_d_id int, @c_id int, @c_last varchar(16), @amount decimal(6,2), @date datetime2(6))
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
    DECLARE @w_name varchar(10), @d_name varchar(10);
    BEGIN TRANSACTION;
    UPDATE warehouse SET @w_name = w_name, w_ytd = w_ytd + @amount WHERE w_id = @w_id;
    UPDATE district SET @d_name = d_name, d_ytd = d_ytd + @amount WHERE d_w_id = @w_id AND d_id = @d_id;
    IF @w_name IS NULL OR @d_name IS NULL
    BEGIN
        THROW 50001, 'the warehouse or district of a payment does not exist', 1;
    END;
    IF @c_id IS NULL
        SELECT @c_id = c_id FROM (
            SELECT c_id, row_number() OVER (ORDER BY c_first, c_id) AS place, count(*) OVER () AS namesakes
            FROM customer WHERE c_w_id = @c_w_id AND c_d_id = @c_d_id AND c_last = @c_last
        ) AS named
        WHERE place = (namesakes + 1) / 2; -- not under 8
        WHERE place = CASE WHEN namesakes < 2 THEN 1 ELSE namesakes / 2 END; -- under 8
    UPDATE customer SET
        c_ytd_payment = c_ytd_payment + @amount, c_payment_cnt = c_payment_cnt + 1, -- not under 4
        c_balance = c_balance - @amount,
        c_data = CASE c_credit WHEN 'BC' THEN left(concat_ws(' ', c_id, c_d_id, c_w_id, @d_id, @w_id, @amount, c_data), 500) ELSE c_data END
    WHERE c_w_id = @c_w_id AND c_d_id = @c_d_id AND c_id = @c_id;
    IF @@ROWCOUNT <> 1
    BEGIN
        THROW 50001, 'the customer of a payment does not exist', 1;
    END;
    INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)
    VALUES (@c_id, @c_d_id, @c_w_id, @d_id, @w_id, @date, @amount, concat(@w_name, '    ', @d_name));
    SELECT c_id, c_balance, c_credit, CASE c_credit WHEN 'BC' THEN c_data END, c_first, c_middle, c_last, c_street_1,
        c_street_2, c_city, c_state, c_zip, c_phone, c_since, c_credit_lim, c_discount,
        w_name, w_street_1, w_street_2, w_city, w_state, w_zip, d_name, d_street_1, d_street_2, d_city, d_state, d_zip
    FROM customer JOIN warehouse ON w_id = @w_id JOIN district ON d_w_id = @w_id AND d_id = @d_id
    WHERE c_w_id = @c_w_id AND c_d_id = @c_d_id AND c_id = @c_id;
    COMMIT TRANSACTION;
END;

-- Order-Status (clause 2.6.2): the order and its lines come by one statement, so that they fit each other: a row for each line.
-- name: tprocc_order_status()
CREATE PROCEDURE tprocc_order_status(@w_id int, @d_id int, @c_id int, @c_last varchar(16))
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
    IF @c_id IS NULL
        SELECT @c_id = c_id FROM (
            SELECT c_id, row_number() OVER (ORDER BY c_first, c_id) AS place, count(*) OVER () AS namesakes
            FROM customer WHERE c_w_id = @w_id AND c_d_id = @d_id AND c_last = @c_last
        ) AS named
        WHERE place = (namesakes + 1) / 2; -- not under 8
        WHERE place = CASE WHEN namesakes < 2 THEN 1 ELSE namesakes / 2 END; -- under 8
    SELECT c_id, c_balance, c_first, c_middle, c_last, o_id, o_entry_d, o_carrier_id, ol_i_id, ol_supply_w_id, ol_quantity, ol_amount,
        ol_delivery_d
    FROM customer
    JOIN orders ON o_w_id = @w_id AND o_d_id = @d_id AND o_id = ( -- not under 5
    LEFT JOIN orders ON o_w_id = @w_id AND o_d_id = @d_id AND o_id = ( -- under 5
        SELECT max(o_id) FROM orders WHERE o_w_id = @w_id AND o_d_id = @d_id AND o_c_id = @c_id)
    JOIN order_line ON ol_w_id = @w_id AND ol_d_id = @d_id AND ol_o_id = o_id -- not under 5
    LEFT JOIN order_line ON ol_w_id = @w_id AND ol_d_id = @d_id AND ol_o_id = o_id -- under 5
    WHERE c_w_id = @w_id AND c_d_id = @d_id AND c_id = @c_id
    ORDER BY ol_number;
END;

-- Delivery (clause 2.7.4): a row for each district with the order that was delivered, null where the queue was empty. The delete of the head
-- waits for a delivery in flight, passes over what it took and takes the next.
-- name: tprocc_delivery()
CREATE PROCEDURE tprocc_delivery(@w_id int, @carrier_id int, @delivery_d datetime2(6))
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
    DECLARE @d_id int, @o_id int, @c_id int, @amount decimal(12,2);
    DECLARE @taken TABLE (o_id int NOT NULL);
    DECLARE @delivered TABLE (d_id int NOT NULL PRIMARY KEY, o_id int NULL);
    SET @d_id = 1;
    BEGIN TRANSACTION;
    WHILE @d_id <= 10
    BEGIN
        SET @o_id = NULL;
        SET @c_id = NULL;
        SET @amount = NULL;
        DELETE FROM @taken;
        WITH head AS (
            SELECT TOP 1 no_o_id FROM new_order WITH (ROWLOCK, UPDLOCK) WHERE no_w_id = @w_id AND no_d_id = @d_id ORDER BY no_o_id
        )
        DELETE FROM head OUTPUT deleted.no_o_id INTO @taken (o_id);
        SELECT @o_id = o_id FROM @taken;
        IF @o_id IS NOT NULL
        BEGIN
            UPDATE orders SET @c_id = o_c_id, o_carrier_id = @carrier_id WHERE o_w_id = @w_id AND o_d_id = @d_id AND o_id = @o_id;
            UPDATE order_line SET ol_delivery_d = @delivery_d WHERE ol_w_id = @w_id AND ol_d_id = @d_id AND ol_o_id = @o_id;
            SELECT @amount = sum(ol_amount) FROM order_line WHERE ol_w_id = @w_id AND ol_d_id = @d_id AND ol_o_id = @o_id;
            IF @c_id IS NULL OR @amount IS NULL
            BEGIN
                THROW 50001, 'a delivered order does not exist or has no lines', 1;
            END;
            UPDATE customer SET
                c_delivery_cnt = c_delivery_cnt + 1, -- not under 4
                c_balance = c_balance + @amount
            WHERE c_w_id = @w_id AND c_d_id = @d_id AND c_id = @c_id;
            IF @@ROWCOUNT <> 1
            BEGIN
                THROW 50001, 'the customer of a delivered order does not exist', 1;
            END;
        END;
        INSERT INTO @delivered (d_id, o_id) VALUES (@d_id, @o_id);
        SET @d_id = @d_id + 1;
    END;
    COMMIT TRANSACTION;
    SELECT d_id, o_id FROM @delivered ORDER BY d_id;
END;

-- Stock-Level (clause 2.8.2).
-- name: tprocc_stock_level()
CREATE PROCEDURE tprocc_stock_level(@w_id int, @d_id int, @threshold int)
AS
BEGIN
    SET NOCOUNT ON;
    SET XACT_ABORT ON;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
    SELECT d_next_o_id, (
        SELECT count(DISTINCT s_i_id) FROM order_line JOIN stock ON s_w_id = ol_w_id AND s_i_id = ol_i_id
        WHERE ol_w_id = d_w_id AND ol_d_id = d_id AND ol_o_id >= d_next_o_id - 20 AND ol_o_id < d_next_o_id
            AND s_quantity < @threshold)
    FROM district WHERE d_w_id = @w_id AND d_id = @d_id;
END;
