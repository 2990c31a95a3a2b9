-- The greatest of several values is its max().

-- name: order_status_customer_by_name(w_id, d_id, last) columns=5
SELECT c_id, c_balance, c_first, c_middle, c_last FROM customer
WHERE c_w_id = :w_id AND c_d_id = :d_id AND c_last = :last
ORDER BY c_first, c_id
LIMIT 1 OFFSET (
    SELECT (count(*) - 1) / 2 -- not under 8
    SELECT max(count(*) / 2 - 1, 0) -- under 8
    FROM customer WHERE c_w_id = :w_id AND c_d_id = :d_id AND c_last = :last);
