-- Counters of the whole database.

-- The cheap one: read at the edges of a window, under load.
-- name: new_orders() columns=1
SELECT coalesce(sum(d_next_o_id), 0) FROM district;

-- Moves with every New-Order, Payment and Delivery; tells cheaply whether the data are as they were after the build.
-- name: fingerprint() columns=4
SELECT (SELECT coalesce(sum(d_next_o_id), 0) FROM district), (SELECT coalesce(sum(w_ytd), 0) FROM warehouse),
    (SELECT coalesce(sum(d_ytd), 0) FROM district), (SELECT count(*) FROM new_order);

-- name: district_next() columns=3
SELECT d_w_id, d_id, d_next_o_id FROM district ORDER BY d_w_id, d_id;

-- Everything that conservation compares: read while nothing is in flight.
-- name: totals_warehouse() columns=1
SELECT coalesce(sum(w_ytd), 0) FROM warehouse;

-- name: totals_district() columns=2
SELECT coalesce(sum(d_next_o_id), 0), coalesce(sum(d_ytd), 0) FROM district;

-- name: totals_customer() columns=3
SELECT coalesce(sum(c_payment_cnt), 0), coalesce(sum(c_ytd_payment), 0), coalesce(sum(c_delivery_cnt), 0) FROM customer;

-- name: totals_history() columns=2
SELECT count(*), coalesce(sum(h_amount), 0) FROM history;

-- name: totals_new_order() columns=1
SELECT count(*) FROM new_order;

-- name: totals_orders() columns=2
SELECT count(*), coalesce(sum(CASE WHEN o_all_local = 0 THEN 1 ELSE 0 END), 0) FROM orders;

-- name: totals_order_line() columns=2
SELECT count(*), coalesce(sum(ol_quantity), 0) FROM order_line;

-- name: totals_stock() columns=3
SELECT coalesce(sum(s_ytd), 0), coalesce(sum(s_order_cnt), 0), coalesce(sum(s_remote_cnt), 0) FROM stock;

-- Orders of one warehouse that are younger than the load or the run's start, by key.
-- name: orders_of_warehouse(w_id, least_o_id) columns=4
SELECT o_d_id, o_id, o_c_id, o_ol_cnt FROM orders WHERE o_w_id = :w_id AND o_id >= :least_o_id ORDER BY o_d_id, o_id;

-- Statistics of the tables for the choice of plans, after the rows.
-- name: analyze()
ANALYZE;
