-- Removes everything that the build makes, its procedures too.

-- name: drop()
DROP TABLE IF EXISTS warehouse, district, customer, history, new_order, orders, order_line, item, stock, proofload_manifest;
DROP PROCEDURE IF EXISTS tprocc_new_order;
DROP PROCEDURE IF EXISTS tprocc_payment;
DROP PROCEDURE IF EXISTS tprocc_order_status;
DROP PROCEDURE IF EXISTS tprocc_delivery;
DROP PROCEDURE IF EXISTS tprocc_stock_level;
