-- Removes everything that the build makes, its procedures too, and the type that one of them takes.

-- name: drop()
DROP TABLE IF EXISTS warehouse, district, customer, history, new_order, orders, order_line, item, stock, proofload_manifest;
DROP PROCEDURE IF EXISTS tprocc_new_order, tprocc_new_order_by_table,
    tprocc_payment, tprocc_order_status, tprocc_delivery, tprocc_stock_level;
DROP TYPE IF EXISTS tprocc_order_lines;
