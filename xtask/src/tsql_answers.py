# Translates the warehouse's T-SQL queries into DuckDB's dialect with sqlglot, runs them and compares the answers with the golden ones. Queries that
# are wrong on purpose are the control: each must give another answer.
# Arguments: the repository, the folder with the official table files, the scale factor.
import csv
import decimal
import pathlib
import re
import sys

import duckdb
import sqlglot

root, tables, scale = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
suite = root / "suites/warehouse"
# Digits after the point as an answer has them, and by how many of the last one it may be off: suites/warehouse/README.md.
DIGITS = {"sum": (2, 1), "average": (2, 1), "ratio": (4, 1)}


class Query:
    """A query: the header of the standard file, the text of SQL Server's folder, or where it has none of the standard one."""

    def __init__(self, name):
        self.name = name
        header = (suite / f"standard/{name}.sql").read_text()
        own = suite / f"sqlserver/{name}.sql"
        lines = (own.read_text() if own.exists() else header).splitlines()
        self.text = "\n".join(line for line in lines if not line.lstrip().startswith("--")).strip()
        self.columns = [line.split() for line in re.findall(r"^-- column:(.*)$", header, re.MULTILINE)]
        names = [column[0] for column in self.columns]
        order = ",".join(re.findall(r"^-- order:(.*)$", header, re.MULTILINE)).split(",")
        self.order = [names.index(name.strip()) for name in order if name.strip()]
        self.parameters = re.findall(r"^-- parameter: (\w+) = (.*?) (from|over scale)", header, re.MULTILINE)

    def filled(self, text):
        """The text with the validation values."""
        for name, value, rule in self.parameters:
            value = f"{decimal.Decimal(value) / decimal.Decimal(scale):.12f}" if rule == "over scale" else value
            text = text.replace("{" + name + "}", value)
        return text

    def golden(self):
        with (suite / f"answers/sf{scale}/{self.name}.csv").open(newline="") as file:
            header, *rows = csv.reader(file)
        if header != [column[0] for column in self.columns]:
            raise ValueError(f"{self.name}: the golden answer has other columns than the query")
        return rows


def written(value, column):
    """The value as an answer has it; a value of another type than the column's is an error."""
    kind = column[1]
    if value is None:
        return "NULL"
    if kind == "text" and isinstance(value, str):
        return value.rstrip(" ")
    if kind == "integer" and value == int(value):
        return str(int(value))
    if kind == "date":
        return value.isoformat()[:10]
    if kind in ("decimal", "sum", "average", "ratio"):
        digits = int(column[2]) if kind == "decimal" and len(column) > 2 else DIGITS.get(kind, (2, 0))[0]
        unit = decimal.Decimal(1).scaleb(-digits)
        return str(decimal.Decimal(str(value)).quantize(unit, decimal.ROUND_HALF_UP))
    raise TypeError(f"{column[0]} is {value!r}")


def alike(column, right, found):
    if right == found:
        return True
    digits, off = DIGITS.get(column[1], (0, 0))
    if not off or "NULL" in (right, found):
        return False
    return abs(decimal.Decimal(right) - decimal.Decimal(found)) <= decimal.Decimal(off).scaleb(-digits)


def difference(query, right, found):
    """What differs, or nothing. Rows come in the order of the ordering columns; rows that agree in those may come in any."""
    if len(right) != len(found):
        return f"{len(found)} rows, but {len(right)} are expected"
    start = 0
    while start < len(right):
        key, end = [right[start][place] for place in query.order], start
        while end < len(right) and [right[end][place] for place in query.order] == key:
            end += 1
        left = found[start:end]
        for row in right[start:end]:
            same = [one for one in left if all(alike(*cell) for cell in zip(query.columns, row, one))]
            if not same:
                return f"rows {start + 1} to {end}: {row} is expected, of {left[:3]}"
            left.remove(same[0])
        start = end
    return None


def translated(query, text):
    statements = sqlglot.transpile(query.filled(text), read="tsql", write="duckdb", unsupported_level=sqlglot.ErrorLevel.RAISE)
    if len(statements) != 1:
        raise ValueError(f"{len(statements)} statements")
    return statements[0]


def answered(database, query, text):
    rows = database.execute(translated(query, text)).fetchall()
    for row in rows:
        if len(row) != len(query.columns):
            raise ValueError(f"{len(row)} columns where {len(query.columns)} are declared")
    return [[written(*cell) for cell in zip(row, query.columns)] for row in rows]


def loaded():
    """A database in memory with the tables of SQL Server's own schema, translated, and the rows of the files."""
    database = duckdb.connect()
    schema = re.sub(r" COLLATE \w+", "", (suite / "sqlserver/schema.sql").read_text().split("-- name: schema()")[1])
    for statement in sqlglot.transpile(schema, read="tsql", write="duckdb"):
        database.execute(statement)
    for (table,) in database.execute("SELECT table_name FROM duckdb_tables()").fetchall():
        columns = [name for name, *_ in database.execute(f"DESCRIBE {table}").fetchall()]
        # The last bar of a line ends it, so that it leaves a column without values.
        names = ", ".join(f"'{name}': 'VARCHAR'" for name in columns + ["nothing"])
        database.execute(
            f"INSERT INTO {table} SELECT {', '.join(columns)} FROM read_csv(?, delim = '|', header = false, quote = '', escape = '', "
            f"columns = {{{names}}})",
            [str(tables / f"{table}.tbl")],
        )
    return database


# Query, what stands in it, what is put there: a changed predicate, date, join, aggregate, order or limit.
WRONG = [
    ("q01", "DATEADD(day, -{delta}", "DATEADD(day, {delta}"),
    ("q01", "(1 + l_tax)", "(1 - l_tax)"),
    ("q02", "min(ps.ps_supplycost)", "max(ps.ps_supplycost)"),
    ("q03", "l_shipdate >", "l_shipdate <"),
    ("q04", "DATEADD(month, 3", "DATEADD(month, 4"),
    ("q05", " AND s_nationkey = c_nationkey", ""),
    ("q06", "l_quantity <", "l_quantity <="),
    ("q07", "YEAR(l_shipdate)", "YEAR(l_commitdate)"),
    ("q08", "YEAR(o_orderdate)", "YEAR(l_shipdate)"),
    ("q09", " AND ps_suppkey = l_suppkey", ""),
    ("q10", "TOP 20", "TOP 21"),
    ("q12", "l_commitdate < l_receiptdate", "l_commitdate > l_receiptdate"),
    ("q13", "LEFT JOIN", "JOIN"),
    ("q14", "DATEADD(month, 1", "DATEADD(month, 2"),
    ("q15", "max(total_revenue)", "min(total_revenue)"),
    ("q16", "count(DISTINCT ps_suppkey)", "count(ps_suppkey)"),
    ("q18", "o_totalprice DESC", "o_totalprice"),
    ("q20", "LIKE '{color}%'", "LIKE '%{color}'"),
    ("q21", "l2.l_suppkey <> l1.l_suppkey", "l2.l_suppkey = l1.l_suppkey"),
    ("q22", "c_acctbal > 0.00", "c_acctbal > -1000.00"),
]


def main():
    database = loaded()
    names = sorted(path.stem for path in (suite / "standard").glob("*.sql") if re.match(r"q\d|probe_", path.stem))
    queries, faults = {name: Query(name) for name in names}, []
    for query in queries.values():
        try:
            what = difference(query, query.golden(), answered(database, query, query.text))
        except (duckdb.Error, sqlglot.errors.SqlglotError, ValueError, TypeError) as error:
            what = str(error)
        faults += [f"DIFFERS {query.name}: {what}"] if what else []
    # One that cannot be run at all is a fault of this list, not a refusal: it ends the script.
    refused = 0
    for name, was, put in WRONG:
        query = queries[name]
        if was not in query.text:
            faults.append(f"NOT TRIED {name}: {was!r} does not stand in it")
        elif difference(query, query.golden(), answered(database, query, query.text.replace(was, put, 1))) is None:
            faults.append(f"TAKEN although wrong: {name} with {put!r} for {was!r}")
        else:
            refused += 1
    for line in faults:
        print(line)
    right = len(queries) - sum(line.startswith("DIFFERS") for line in faults)
    print(f"{right} of {len(queries)} queries give the golden answers at scale factor {scale}; {refused} of {len(WRONG)} wrong queries are refused")
    sys.exit(1 if faults else 0)


main()
