-- Indexes of the foreign keys that queries follow, as on MariaDB. MySQL makes no index "if not exists", so one that was made and not noted is
-- looked for.

-- name: partsupp_supplier()
SET @proofload_step = (
    SELECT CASE count(*) WHEN 0 THEN 'CREATE INDEX partsupp_supplier ON partsupp (ps_suppkey)' ELSE 'DO 0' END
    FROM information_schema.statistics
    WHERE table_schema = database() AND table_name = 'partsupp' AND index_name = 'partsupp_supplier');
PREPARE proofload_step FROM @proofload_step;
EXECUTE proofload_step;
DEALLOCATE PREPARE proofload_step;

-- name: orders_customer()
SET @proofload_step = (
    SELECT CASE count(*) WHEN 0 THEN 'CREATE INDEX orders_customer ON orders (o_custkey)' ELSE 'DO 0' END
    FROM information_schema.statistics
    WHERE table_schema = database() AND table_name = 'orders' AND index_name = 'orders_customer');
PREPARE proofload_step FROM @proofload_step;
EXECUTE proofload_step;
DEALLOCATE PREPARE proofload_step;

-- name: lineitem_part_supplier()
SET @proofload_step = (
    SELECT CASE count(*) WHEN 0 THEN 'CREATE INDEX lineitem_part_supplier ON lineitem (l_partkey, l_suppkey)' ELSE 'DO 0' END
    FROM information_schema.statistics
    WHERE table_schema = database() AND table_name = 'lineitem' AND index_name = 'lineitem_part_supplier');
PREPARE proofload_step FROM @proofload_step;
EXECUTE proofload_step;
DEALLOCATE PREPARE proofload_step;

-- name: lineitem_supplier()
SET @proofload_step = (
    SELECT CASE count(*) WHEN 0 THEN 'CREATE INDEX lineitem_supplier ON lineitem (l_suppkey)' ELSE 'DO 0' END
    FROM information_schema.statistics
    WHERE table_schema = database() AND table_name = 'lineitem' AND index_name = 'lineitem_supplier');
PREPARE proofload_step FROM @proofload_step;
EXECUTE proofload_step;
DEALLOCATE PREPARE proofload_step;
