-- Payment (clause 2.5.2). Every update is relative, so that no payment is lost at any isolation level.

-- name: payment_warehouse(w_id, amount) columns=6
UPDATE warehouse SET w_ytd = w_ytd + :amount WHERE w_id = :w_id
RETURNING w_name, w_street_1, w_street_2, w_city, w_state, w_zip;

-- name: payment_district(w_id, d_id, amount) columns=6
UPDATE district SET d_ytd = d_ytd + :amount WHERE d_w_id = :w_id AND d_id = :d_id
RETURNING d_name, d_street_1, d_street_2, d_city, d_state, d_zip;

-- name: payment_customer_by_id(w_id, d_id, c_id, amount) columns=16
UPDATE customer SET
    c_ytd_payment = c_ytd_payment + :amount, c_payment_cnt = c_payment_cnt + 1, -- not under 4
    c_balance = c_balance - :amount
WHERE c_w_id = :w_id AND c_d_id = :d_id AND c_id = :c_id
RETURNING c_id, c_credit, CASE c_credit WHEN 'BC' THEN c_data END, c_first, c_middle, c_last, c_street_1, c_street_2, c_city,
    c_state, c_zip, c_phone, c_since, c_credit_lim, c_discount, c_balance;

-- The middle row, position (n + 1) div 2 counted from 1, in the order of c_first; c_id settles equal first names. Under departure 8
-- position n div 2.
-- name: payment_customer_by_name(w_id, d_id, last, amount) columns=16
UPDATE customer SET
    c_ytd_payment = c_ytd_payment + :amount, c_payment_cnt = c_payment_cnt + 1, -- not under 4
    c_balance = c_balance - :amount
WHERE c_w_id = :w_id AND c_d_id = :d_id AND c_id = (
    SELECT c_id FROM customer WHERE c_w_id = :w_id AND c_d_id = :d_id AND c_last = :last
    ORDER BY c_first, c_id
    LIMIT 1 OFFSET (
        SELECT (count(*) - 1) / 2 -- not under 8
        SELECT greatest(count(*) / 2 - 1, 0) -- under 8
        FROM customer WHERE c_w_id = :w_id AND c_d_id = :d_id AND c_last = :last))
RETURNING c_id, c_credit, CASE c_credit WHEN 'BC' THEN c_data END, c_first, c_middle, c_last, c_street_1, c_street_2, c_city,
    c_state, c_zip, c_phone, c_since, c_credit_lim, c_discount, c_balance;

-- name: payment_customer_data(w_id, d_id, c_id, data)
UPDATE customer SET c_data = :data WHERE c_w_id = :w_id AND c_d_id = :d_id AND c_id = :c_id;

-- name: payment_history(c_id, c_d_id, c_w_id, d_id, w_id, date, amount, data)
INSERT INTO history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data)
VALUES (:c_id, :c_d_id, :c_w_id, :d_id, :w_id, :date, :amount, :data);
