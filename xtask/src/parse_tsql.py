# Reads the T-SQL texts of the repository with Microsoft's own parser, ScriptDom, and tells which it refuses. Wrong texts are the control.
# Arguments: the repository, the folder of ScriptDom's library, the folder of the runtime.
import os
import pathlib
import re
import sys

root, library, runtime = map(pathlib.Path, sys.argv[1:4])
os.environ["DOTNET_SYSTEM_GLOBALIZATION_INVARIANT"] = "1"
import clr_loader  # noqa: E402
import pythonnet  # noqa: E402
from tsql_texts import statements  # noqa: E402

config = pathlib.Path(__file__).with_name("proofload.runtimeconfig.json")
config.write_text('{"runtimeOptions": {"framework": {"name": "Microsoft.NETCore.App", "version": "3.1.0"}}}')
try:
    pythonnet.set_runtime(clr_loader.get_coreclr(runtime_config=str(config), dotnet_root=str(runtime)))
    import clr  # noqa: E402
except Exception as error:
    # The runtime wants libraries of the system. Its exit code is that of a check which cannot be done here.
    print("the .NET runtime does not start:", " ".join(str(error).split()))
    sys.exit(77)

sys.path.append(str(library))
clr.AddReference(str(library / "Microsoft.SqlServer.TransactSql.ScriptDom"))
from Microsoft.SqlServer.TransactSql.ScriptDom import TSql150Parser  # noqa: E402
from System.IO import StringReader  # noqa: E402


def parse(sql):
    _, errors = TSql150Parser(True).Parse(StringReader(sql), None)
    return [f"line {error.Line} column {error.Column}: {error.Message}" for error in errors]


def sent(sql):
    sql = re.sub(r"\[\[(.*?)\]\]", lambda m: ", ".join(m.group(1).replace("{n}", str(n)) for n in (0, 1)), sql)
    sql = sql.replace("{n}", "0")
    sql = re.sub(r"\{\w+\}", "1", sql)
    # The number of threads is put in as a number.
    sql = sql.replace(":threads", "1")
    return re.sub(r"(?<![:\w]):([a-z]\w*)", r"@\1", sql)


ENDING_OTHERS = (
    "DECLARE @k nvarchar(max) = N''; "
    "SELECT @k += N'BEGIN TRY KILL ' + CAST(session_id AS nvarchar(10)) + N'; END TRY BEGIN CATCH END CATCH; ' "
    "FROM sys.dm_exec_sessions WHERE database_id = DB_ID(N'x') AND session_id <> @@SPID AND is_user_process = 1; EXEC (@k); "
)

# What a session sends whose text stands in Rust.
WRITTEN = [
    "SET NOCOUNT OFF; SET XACT_ABORT ON; SET LANGUAGE us_english; SET DATEFORMAT ymd; SET TEXTSIZE 2147483647; SET LOCK_TIMEOUT -1; "
    "SET IMPLICIT_TRANSACTIONS OFF; SET TRANSACTION ISOLATION LEVEL READ COMMITTED",
    "IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION",
    "IF XACT_STATE() = 1 ROLLBACK TRANSACTION proofload_append",
    "CREATE DATABASE [x] COLLATE Latin1_General_100_BIN2_UTF8",
    "ALTER DATABASE [x] SET READ_COMMITTED_SNAPSHOT OFF WITH ROLLBACK IMMEDIATE",
    "ALTER DATABASE [x] SET DELAYED_DURABILITY = FORCED",
    "ALTER DATABASE [x] SET RECOVERY BULK_LOGGED",
    "ALTER DATABASE [x] SET RECOVERY FULL",
    "ALTER DATABASE [x] SET TARGET_RECOVERY_TIME = 60 SECONDS",
    "ALTER DATABASE SCOPED CONFIGURATION SET MAXDOP = 28",
    "INSERT BULK [t] ([a] int, [b] varchar(max), [c] decimal(12, 2), [d] datetime2(6))",
    "INSERT BULK [t] ([a] int, [b] varchar(max)) WITH (TABLOCK, ROWS_PER_BATCH = 200000)",
    "INSERT BULK [t] ([a] int, [b] varchar(max)) WITH (ORDER ([a] ASC, [b] ASC), ROWS_PER_BATCH = 200000)",
    "SELECT CAST(i.type AS int), COALESCE(CAST(COL_NAME(c.object_id, c.column_id) AS nvarchar(128)), N'') FROM sys.indexes i "
    "LEFT JOIN sys.index_columns c ON c.object_id = i.object_id AND c.index_id = i.index_id AND c.key_ordinal > 0 "
    "WHERE i.object_id = OBJECT_ID(N'[t]') ORDER BY i.index_id, c.key_ordinal",
    "SELECT CAST(t.name AS nvarchar(128)), CAST(g.state_desc AS nvarchar(60)), COALESCE(CAST(g.trim_reason_desc AS nvarchar(60)), N''), "
    "COUNT_BIG(*), COALESCE(SUM(g.total_rows), 0) FROM sys.dm_db_column_store_row_group_physical_stats g JOIN sys.tables t "
    "ON t.object_id = g.object_id GROUP BY t.name, g.state_desc, g.trim_reason_desc ORDER BY t.name, g.state_desc, g.trim_reason_desc",
    "EXEC sys.sp_addextendedproperty @name = N'proofload', @value = 'proofload:1'",
    "ALTER INDEX [a] ON [b] REORGANIZE WITH (COMPRESS_ALL_ROW_GROUPS = ON)",
    # As the warehouse's text in quotes has it, without ORDER (l_shipdate), which this grammar does not know.
    "CREATE CLUSTERED COLUMNSTORE INDEX lineitem_columns ON lineitem WITH (DROP_EXISTING = ON, MAXDOP = 1)",
    "BACKUP DATABASE [x] TO DISK = N'x.bak' WITH INIT, COPY_ONLY, CHECKSUM, COMPRESSION, STATS = 5",
    "RESTORE DATABASE [x] FROM DISK = N'x.bak' WITH REPLACE, CHECKSUM, STATS = 5",
    "BACKUP DATABASE [x] TO DISK = N'a.bak', DISK = N'b.bak' WITH INIT, COPY_ONLY, CHECKSUM, COMPRESSION, STATS = 5",
    "RESTORE DATABASE [x] FROM DISK = N'a.bak', DISK = N'b.bak' WITH REPLACE, CHECKSUM, STATS = 5",
    ENDING_OTHERS + "ALTER DATABASE [x] SET SINGLE_USER WITH ROLLBACK IMMEDIATE; "
    "RESTORE DATABASE [x] FROM DISK = N'x.bak' WITH REPLACE, CHECKSUM, STATS = 5",
    "SELECT CAST(SERVERPROPERTY('ProductMajorVersion') AS int), CAST(SERVERPROPERTY('EngineEdition') AS int), "
    "CAST(SERVERPROPERTY('ProductVersion') AS varchar(128)) COLLATE DATABASE_DEFAULT",
    ENDING_OTHERS + "ALTER DATABASE [x] SET MULTI_USER",
    "BEGIN TRY KILL 55; END TRY BEGIN CATCH END CATCH; BEGIN TRY KILL 56; END TRY BEGIN CATCH END CATCH; ",
    "EXEC sys.sp_configure N'max server memory (MB)', 65536; RECONFIGURE",
    "ALTER SERVER CONFIGURATION SET PROCESS AFFINITY CPU = 0 TO 31",
    "ALTER SERVER CONFIGURATION SET PROCESS AFFINITY CPU = 0,1,2",
    "ALTER SERVER CONFIGURATION SET PROCESS AFFINITY CPU = AUTO",
    "ALTER AVAILABILITY GROUP [x] FAILOVER",
    "ALTER AVAILABILITY GROUP [x] FORCE_FAILOVER_ALLOW_DATA_LOSS",
    "ALTER DATABASE [x] SET HADR RESUME",
    "SELECT TOP (16) op FROM proofload_ledger ORDER BY op DESC",
    "ALTER WORKLOAD GROUP [default] WITH (REQUEST_MAX_MEMORY_GRANT_PERCENT = 12); ALTER RESOURCE GOVERNOR RECONFIGURE",
    "ALTER WORKLOAD GROUP [default] WITH (REQUEST_MAX_MEMORY_GRANT_PERCENT = 25); "
    "IF EXISTS (SELECT 1 FROM sys.resource_governor_configuration WHERE is_enabled = 1) ALTER RESOURCE GOVERNOR DISABLE",
    "SELECT CAST(c.value AS varchar(20)) FROM sys.configurations c WHERE c.name = N'max server memory (MB)'",
    "IF EXISTS (SELECT 1 FROM sys.extended_properties WHERE class = 0 AND name = 'a') EXEC sys.sp_updateextendedproperty @name = N'a', "
    "@value = 'b' ELSE EXEC sys.sp_addextendedproperty @name = N'a', @value = 'b'",
]

# What must be refused: forms of other dialects, and mistakes.
WRONG = [
    "SELECT a FROM t LIMIT 10",
    "SELECT a FROM t ORDER BY a LIMIT 1 OFFSET 2",
    "DELETE FROM t WHERE a = 1 RETURNING a",
    "UPDATE t SET a = 1 RETURNING a",
    "INSERT INTO t VALUES (1) ON CONFLICT DO NOTHING",
    "CREATE TABLE IF NOT EXISTS t (a int)",
    "CREATE TEMP TABLE t AS SELECT 1 AS a",
    "CREATE TEMPORARY TABLE t (a int)",
    "CREATE OR REPLACE PROCEDURE p AS SELECT 1",
    "CREATE PROCEDURE p(a int) AS SELECT a",
    "CREATE PROCEDURE p(@a int) BEGIN SELECT @a; END",
    "BEGIN;",
    "BEGIN SELECT 1;",
    "START TRANSACTION",
    "REPLACE INTO t VALUES (1)",
    "SELECT a + INTERVAL '1' DAY FROM t",
    "SELECT EXTRACT(YEAR FROM a) FROM t",
    "SELECT substring(a FROM 1 FOR 2) FROM t",
    "INSERT INTO t SET a = 1",
    "SELECT 1 THROW 50001, 'x', 1 WITH",
    "DECLARE @t table (a int PRIMARY)",
    "DECLARE @a integer DEFAULT 1",
    "IF 1 = 1 THEN SELECT 1; END IF",
    "WHILE 1 = 1 DO SELECT 1; END WHILE",
    "SELECT a INTO @x FROM t",
    "CALL p(1)",
    "SELECT TOP a FROM t",
    "SELECT count(* FROM t",
    "SELECT string_agg(a, ',' ORDER BY b) FROM t",
    "UPDATE t JOIN u ON t.a = u.a SET t.b = 1",
    "DELETE FROM t WHERE a = 1 ORDER BY a LIMIT 1",
    "DROP TABLE t CASCADE",
    "ALTER TABLE t ADD COLUMN a int",
    "SELECT * FROM t WHERE a ILIKE 'x'",
]


def every_text():
    """Texts as the engine gets them: its own, and those of the standard folder that it does not replace."""
    for folder in sorted(path for path in (root / "suites").glob("*/sqlserver*") if path.is_dir()):
        for departures in (False, True) if folder.parent.name == "tprocc" else (False,):
            own, standard = {}, {}
            for texts, place in ((own, folder), (standard, folder.parent / "standard")):
                for file in sorted(place.glob("*.sql")):
                    texts.update({(file.name, name): sent(sql) for name, sql in statements(file, departures)})
            if folder.name == "sqlserver":
                own = {**standard, **own}
            for (file, name), sql in own.items():
                yield f"{folder.relative_to(root)} {file} {name}", sql
    for file in sorted((root / "suites").glob("*/sqlserver*/dialect.toml")):
        for name, sql in re.findall(r'^(waiting|first|end|lock) = "(.*)"$', file.read_text(), re.MULTILINE):
            filled = {"table": "t", "rows": "a = 1", "session": "57"}
            yield f"{file.relative_to(root)} {name}", re.sub(r"\{(\w+)\}", lambda match: filled[match.group(1)], sql)
    for file in sorted((root / "crates/engine/src/engines/sqlserver").glob("*.sql")):
        yield file.name, file.read_text()


def main():
    read, refused = 0, []
    for name, sql in list(every_text()) + [("sent by the session", sql) for sql in WRITTEN]:
        read += 1
        refused += [f"{name}: {error}" for error in parse(sql)]
    passed = [sql for sql in WRONG if not parse(sql)]
    for line in refused:
        print("REFUSED", line)
    for line in passed:
        print("TAKEN although wrong:", line)
    print(f"{read} texts read, {len(refused)} faults; {len(WRONG) - len(passed)} of {len(WRONG)} wrong texts refused")
    sys.exit(1 if refused or passed else 0)


main()
