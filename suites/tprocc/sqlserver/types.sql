-- Types of parameters, made before the procedures that take them. The server keeps no text of a type: what it tells of one (routines.sql) stands
-- here between the brackets as it tells it, on one line.

-- Lines of an order for tprocc_new_order_by_table, each with its number; they lie in the order in which they are entered.
-- name: tprocc_order_lines()
CREATE TYPE tprocc_order_lines AS TABLE (
    number int NOT NULL, item int NOT NULL, supplier int NOT NULL, quantity int NOT NULL, PRIMARY KEY CLUSTERED (number)
);
