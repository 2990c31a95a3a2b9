-- Size of the whole database, and statistics of the tables.

-- name: database_bytes() columns=1
SELECT coalesce(sum(CAST(size AS bigint)), 0) * 8192 FROM sys.database_files WHERE type = 0;

-- name: analyze()
UPDATE STATISTICS warehouse;
UPDATE STATISTICS district;
UPDATE STATISTICS customer;
UPDATE STATISTICS history;
UPDATE STATISTICS new_order;
UPDATE STATISTICS orders;
UPDATE STATISTICS order_line;
UPDATE STATISTICS item;
UPDATE STATISTICS stock;

-- name: totals_customer() columns=3
SELECT coalesce(sum(CAST(c_payment_cnt AS bigint)), 0), coalesce(sum(c_ytd_payment), 0), coalesce(sum(CAST(c_delivery_cnt AS bigint)), 0)
FROM customer;

-- A count of rows has 32 bits too, unless COUNT_BIG makes it.
-- name: totals_order_line() columns=2
SELECT COUNT_BIG(*), coalesce(sum(CAST(ol_quantity AS bigint)), 0) FROM order_line;

-- A sum of integers of 32 bits has 32 bits here, and overflows.
-- name: totals_stock() columns=3
SELECT coalesce(sum(CAST(s_ytd AS bigint)), 0), coalesce(sum(CAST(s_order_cnt AS bigint)), 0), coalesce(sum(CAST(s_remote_cnt AS bigint)), 0)
FROM stock;

-- name: totals_district() columns=2
SELECT coalesce(sum(CAST(d_next_o_id AS bigint)), 0), coalesce(sum(d_ytd), 0) FROM district;

-- Read under load. With row versions one statement sees what was committed when it began, and waits for nobody. Without them it would read
-- each district at another moment, and wait for each in turn; READCOMMITTEDLOCK does the same. HOLDLOCK alone would keep each row that it has
-- read: a payment that holds a later row could wait for an earlier one's warehouse, and nobody would go on. So the whole table is locked at
-- once: TABLOCK waits for the transactions that have changed a district and holds the next ones back for one scan, HOLDLOCK keeps it to the
-- end of that. Nobody who has a district waits for one who wants one: locks are taken in the order warehouse, district, customer, stock.
-- name: new_orders() columns=1
IF EXISTS (SELECT 1 FROM sys.databases d WHERE d.name = DB_NAME() AND d.is_read_committed_snapshot_on = 1)
    SELECT coalesce(sum(CAST(d_next_o_id AS bigint)), 0) FROM district
ELSE
    SELECT coalesce(sum(CAST(d_next_o_id AS bigint)), 0) FROM district WITH (TABLOCK, HOLDLOCK);

-- name: fingerprint() columns=4
SELECT (SELECT coalesce(sum(CAST(d_next_o_id AS bigint)), 0) FROM district), (SELECT coalesce(sum(w_ytd), 0) FROM warehouse),
    (SELECT coalesce(sum(d_ytd), 0) FROM district), (SELECT COUNT_BIG(*) FROM new_order);
