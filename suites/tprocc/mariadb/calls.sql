-- How the transactions of procedures.sql are called: one statement each, outside a transaction, so that the call is one. A list arrives as
-- the text of a JSON array.

-- name: call_new_order(w_id, d_id, c_id, entry_d, items, suppliers, quantities) columns=13
CALL tprocc_new_order(:w_id, :d_id, :c_id, :entry_d, :items, :suppliers, :quantities);

-- name: call_payment(w_id, d_id, c_w_id, c_d_id, c_id, c_last, amount, date) columns=28
CALL tprocc_payment(:w_id, :d_id, :c_w_id, :c_d_id, :c_id, :c_last, :amount, :date);

-- name: call_order_status(w_id, d_id, c_id, c_last) columns=13
CALL tprocc_order_status(:w_id, :d_id, :c_id, :c_last);

-- name: call_delivery(w_id, carrier_id, delivery_d) columns=2
CALL tprocc_delivery(:w_id, :carrier_id, :delivery_d);

-- name: call_stock_level(w_id, d_id, threshold) columns=2
CALL tprocc_stock_level(:w_id, :d_id, :threshold);
