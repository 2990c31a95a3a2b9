-- The offset of a LIMIT cannot be computed, so rows are numbered.

-- name: order_status_customer_by_name(w_id, d_id, last) columns=5
SELECT c_id, c_balance, c_first, c_middle, c_last
FROM (
    SELECT c_id, c_balance, c_first, c_middle, c_last, row_number() OVER (ORDER BY c_first, c_id) AS place,
        count(*) OVER () AS namesakes
    FROM customer WHERE c_w_id = :w_id AND c_d_id = :d_id AND c_last = :last
) AS named
WHERE place = (namesakes + 1) DIV 2; -- not under 8
WHERE place = greatest(namesakes DIV 2, 1); -- under 8
