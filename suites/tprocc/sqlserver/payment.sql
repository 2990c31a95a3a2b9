-- An update returns what it left by OUTPUT. The middle row, position (n + 1) div 2 counted from 1, in the order of c_first; c_id settles equal
-- first names. Under departure 8 position n div 2.

-- name: payment_warehouse(w_id, amount) columns=6
UPDATE warehouse SET w_ytd = w_ytd + :amount
OUTPUT inserted.w_name, inserted.w_street_1, inserted.w_street_2, inserted.w_city, inserted.w_state, inserted.w_zip
WHERE w_id = :w_id;

-- name: payment_district(w_id, d_id, amount) columns=6
UPDATE district SET d_ytd = d_ytd + :amount
OUTPUT inserted.d_name, inserted.d_street_1, inserted.d_street_2, inserted.d_city, inserted.d_state, inserted.d_zip
WHERE d_w_id = :w_id AND d_id = :d_id;

-- name: payment_customer_by_id(w_id, d_id, c_id, amount) columns=16
UPDATE customer SET
    c_ytd_payment = c_ytd_payment + :amount, c_payment_cnt = c_payment_cnt + 1, -- not under 4
    c_balance = c_balance - :amount
OUTPUT inserted.c_id, inserted.c_credit, CASE inserted.c_credit WHEN 'BC' THEN inserted.c_data END, inserted.c_first,
    inserted.c_middle, inserted.c_last, inserted.c_street_1, inserted.c_street_2, inserted.c_city, inserted.c_state,
    inserted.c_zip, inserted.c_phone, inserted.c_since, inserted.c_credit_lim, inserted.c_discount, inserted.c_balance
WHERE c_w_id = :w_id AND c_d_id = :d_id AND c_id = :c_id;

-- name: payment_customer_by_name(w_id, d_id, last, amount) columns=16
UPDATE customer SET
    c_ytd_payment = c_ytd_payment + :amount, c_payment_cnt = c_payment_cnt + 1, -- not under 4
    c_balance = c_balance - :amount
OUTPUT inserted.c_id, inserted.c_credit, CASE inserted.c_credit WHEN 'BC' THEN inserted.c_data END, inserted.c_first,
    inserted.c_middle, inserted.c_last, inserted.c_street_1, inserted.c_street_2, inserted.c_city, inserted.c_state,
    inserted.c_zip, inserted.c_phone, inserted.c_since, inserted.c_credit_lim, inserted.c_discount, inserted.c_balance
WHERE c_w_id = :w_id AND c_d_id = :d_id AND c_id = (
    SELECT c_id FROM (
        SELECT c_id, row_number() OVER (ORDER BY c_first, c_id) AS place, count(*) OVER () AS namesakes
        FROM customer WHERE c_w_id = :w_id AND c_d_id = :d_id AND c_last = :last
    ) AS named
    WHERE place = (namesakes + 1) / 2); -- not under 8
    WHERE place = CASE WHEN namesakes < 2 THEN 1 ELSE namesakes / 2 END); -- under 8
