-- Removes everything that the build makes, its procedures too.

-- name: drop()
DROP TABLE IF EXISTS warehouse;
DROP TABLE IF EXISTS district;
DROP TABLE IF EXISTS customer;
DROP TABLE IF EXISTS history;
DROP TABLE IF EXISTS new_order;
DROP TABLE IF EXISTS orders;
DROP TABLE IF EXISTS order_line;
DROP TABLE IF EXISTS item;
DROP TABLE IF EXISTS stock;
DROP TABLE IF EXISTS proofload_manifest;
DROP ROUTINE IF EXISTS tprocc_new_order;
DROP ROUTINE IF EXISTS tprocc_payment;
DROP ROUTINE IF EXISTS tprocc_order_status;
DROP ROUTINE IF EXISTS tprocc_delivery;
DROP ROUTINE IF EXISTS tprocc_stock_level;
