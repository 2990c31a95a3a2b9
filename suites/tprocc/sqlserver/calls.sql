-- How the transactions of procedures.sql are called: by their names, outside a transaction, so that the call is one. A list arrives as binary,
-- four bytes for each number, the highest first.

-- name: call_new_order(w_id, d_id, c_id, entry_d, items, suppliers, quantities) columns=13
EXEC tprocc_new_order :w_id, :d_id, :c_id, :entry_d, :items, :suppliers, :quantities;

-- The lists are sent as one table of the type that the comment names: a row for each place in them, its number in front (types.sql).
-- name: call_new_order_by_table(w_id, d_id, c_id, entry_d, items, suppliers, quantities) columns=13
EXEC tprocc_new_order_by_table :w_id, :d_id, :c_id, :entry_d, /* table tprocc_order_lines */ :items, :suppliers, :quantities;

-- name: call_payment(w_id, d_id, c_w_id, c_d_id, c_id, c_last, amount, date) columns=28
EXEC tprocc_payment :w_id, :d_id, :c_w_id, :c_d_id, :c_id, :c_last, :amount, :date;

-- name: call_order_status(w_id, d_id, c_id, c_last) columns=13
EXEC tprocc_order_status :w_id, :d_id, :c_id, :c_last;

-- name: call_delivery(w_id, carrier_id, delivery_d) columns=2
EXEC tprocc_delivery :w_id, :carrier_id, :delivery_d;

-- name: call_stock_level(w_id, d_id, threshold) columns=2
EXEC tprocc_stock_level :w_id, :d_id, :threshold;
