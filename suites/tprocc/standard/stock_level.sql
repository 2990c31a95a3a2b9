-- Stock-Level (clause 2.8.2): the distinct items of the district's last 20 orders that run short.

-- name: stock_level(w_id, d_id, threshold) columns=2
SELECT d_next_o_id, (
    SELECT count(DISTINCT s_i_id) FROM order_line JOIN stock ON s_w_id = ol_w_id AND s_i_id = ol_i_id
    WHERE ol_w_id = d_w_id AND ol_d_id = d_id AND ol_o_id >= d_next_o_id - 20 AND ol_o_id < d_next_o_id
        AND s_quantity < :threshold)
FROM district WHERE d_w_id = :w_id AND d_id = :d_id;
