-- An update returns nothing, so a read of what it left is sent with it: each statement below is prepared by itself. The offset of a LIMIT
-- cannot be computed, so rows are numbered.

-- name: payment_warehouse(w_id, amount) columns=6
UPDATE warehouse SET w_ytd = w_ytd + :amount WHERE w_id = :w_id;
SELECT w_name, w_street_1, w_street_2, w_city, w_state, w_zip FROM warehouse WHERE w_id = :w_id;

-- name: payment_district(w_id, d_id, amount) columns=6
UPDATE district SET d_ytd = d_ytd + :amount WHERE d_w_id = :w_id AND d_id = :d_id;
SELECT d_name, d_street_1, d_street_2, d_city, d_state, d_zip FROM district WHERE d_w_id = :w_id AND d_id = :d_id;

-- name: payment_customer_by_id(w_id, d_id, c_id, amount) columns=16
UPDATE customer SET
    c_ytd_payment = c_ytd_payment + :amount, c_payment_cnt = c_payment_cnt + 1, -- not under 4
    c_balance = c_balance - :amount
WHERE c_w_id = :w_id AND c_d_id = :d_id AND c_id = :c_id;
SELECT c_id, c_credit, CASE c_credit WHEN 'BC' THEN c_data END, c_first, c_middle, c_last, c_street_1, c_street_2, c_city,
    c_state, c_zip, c_phone, c_since, c_credit_lim, c_discount, c_balance
FROM customer WHERE c_w_id = :w_id AND c_d_id = :d_id AND c_id = :c_id;

-- The middle row, position (n + 1) div 2 counted from 1, in the order of c_first; c_id settles equal first names. Under departure 8
-- position n div 2. Its number is found first and kept as the last id, which is 0 before: no customer has that.
-- name: payment_customer_by_name(w_id, d_id, last, amount) columns=16
DO LAST_INSERT_ID(0);
DO (
    SELECT LAST_INSERT_ID(c_id) FROM (
        SELECT c_id, row_number() OVER (ORDER BY c_first, c_id) AS place, count(*) OVER () AS namesakes
        FROM customer WHERE c_w_id = :w_id AND c_d_id = :d_id AND c_last = :last
    ) AS named
    WHERE place = (namesakes + 1) DIV 2 -- not under 8
    WHERE place = greatest(namesakes DIV 2, 1) -- under 8
);
UPDATE customer SET
    c_ytd_payment = c_ytd_payment + :amount, c_payment_cnt = c_payment_cnt + 1, -- not under 4
    c_balance = c_balance - :amount
WHERE c_w_id = :w_id AND c_d_id = :d_id AND c_id = LAST_INSERT_ID();
SELECT c_id, c_credit, CASE c_credit WHEN 'BC' THEN c_data END, c_first, c_middle, c_last, c_street_1, c_street_2, c_city,
    c_state, c_zip, c_phone, c_since, c_credit_lim, c_discount, c_balance
FROM customer WHERE c_w_id = :w_id AND c_d_id = :d_id AND c_id = LAST_INSERT_ID();
