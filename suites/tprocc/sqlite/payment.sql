-- The greatest of several values is its max().

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
        SELECT max(count(*) / 2 - 1, 0) -- under 8
        FROM customer WHERE c_w_id = :w_id AND c_d_id = :d_id AND c_last = :last))
RETURNING c_id, c_credit, CASE c_credit WHEN 'BC' THEN c_data END, c_first, c_middle, c_last, c_street_1, c_street_2, c_city,
    c_state, c_zip, c_phone, c_since, c_credit_lim, c_discount, c_balance;
