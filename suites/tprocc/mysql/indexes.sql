-- What is built after the rows: each one a step of the build, noted in the manifest. Primary keys exist from the start. MySQL makes no index
-- "if not exists", so one that was made and not noted is looked for.

-- name: customer_by_name()
SET @proofload_step = (
    SELECT CASE count(*) WHEN 0 THEN 'CREATE INDEX customer_by_name ON customer (c_w_id, c_d_id, c_last, c_first, c_id)' ELSE 'DO 0' END
    FROM information_schema.statistics
    WHERE table_schema = database() AND table_name = 'customer' AND index_name = 'customer_by_name');
PREPARE proofload_step FROM @proofload_step;
EXECUTE proofload_step;
DEALLOCATE PREPARE proofload_step;

-- name: orders_by_customer()
SET @proofload_step = (
    SELECT CASE count(*) WHEN 0 THEN 'CREATE UNIQUE INDEX orders_by_customer ON orders (o_w_id, o_d_id, o_c_id, o_id)' ELSE 'DO 0' END
    FROM information_schema.statistics
    WHERE table_schema = database() AND table_name = 'orders' AND index_name = 'orders_by_customer');
PREPARE proofload_step FROM @proofload_step;
EXECUTE proofload_step;
DEALLOCATE PREPARE proofload_step;
