# Executes what TPROC-C's T-SQL means, its statements and its procedures, in DuckDB: sqlglot reads each statement, and what T-SQL has of its own
# (variables, OUTPUT, IF, WHILE, tables in variables) is done here. What it returns and leaves is compared with the standard texts, which PostgreSQL
# and SQLite run in the tests. Texts that are wrong on purpose are the control.
# Argument: the repository.
import datetime
import decimal
import functools
import pathlib
import random
import re
import sys

import duckdb
import sqlglot
from sqlglot import exp

from tsql_texts import statements

root = pathlib.Path(sys.argv[1])
suite = root / "suites/tprocc"
D = decimal.Decimal
WAREHOUSES, DISTRICTS, CUSTOMERS, ITEMS, ORDERS = 2, 10, 9, 40, 6
NAMES = ["BARBARBAR", "OUGHTABLE", "PRIESE"]


def texts(folder):
    """Every statement under none of the departures."""
    return {name: sql for file in sorted((suite / folder).glob("*.sql")) for name, sql in statements(file, False)}


STANDARD, OWN = texts("standard"), texts("sqlserver")
SCHEMA = OWN["schema"]
KEYS = {
    table: [column.strip() for column in key.split(",")]
    for table, key in re.findall(r"CREATE TABLE (\w+) \((?:(?!CREATE).)*PRIMARY KEY CLUSTERED \(([^)]*)\)", SCHEMA, re.DOTALL)
}


class Thrown(Exception):
    """An error that a procedure throws."""


def literal(value, kind=None):
    """A value as text of SQL, of a type where one is declared."""
    if isinstance(value, bytes):
        text = f"'{value.hex()}'"
    elif isinstance(value, (str, datetime.datetime)):
        text = "'" + str(value).replace("'", "''") + "'"
    else:
        text = "NULL" if value is None else str(value)
    if kind is None and isinstance(value, datetime.datetime):
        kind = "TIMESTAMP"
    if kind is None and isinstance(value, D):
        kind = f"DECIMAL(16, {max(0, -value.as_tuple().exponent)})"
    return f"CAST({text} AS {kind})" if kind else text


@functools.cache
def read(sql, dialect):
    return sqlglot.parse_one(sql, read=dialect)


class Server:
    """A database, and one call in it: variables by name with their values and types."""

    def __init__(self):
        self.database = duckdb.connect(config={"threads": 1})
        self.variables, self.types, self.count = {}, {}, 0

    def ask(self, sql):
        return self.database.execute(sql).fetchall()

    def translated(self, node):
        """A tree of T-SQL as text for DuckDB, with values for variables."""
        return node.transform(self.translate).sql(dialect="duckdb")

    def translate(self, node):
        if isinstance(node, exp.Cast) and isinstance(node.this, exp.Substring) and isinstance(node.this.this, exp.Parameter):
            value = self.variables[node.this.this.name.lower()]
            if isinstance(value, bytes):
                # Bytes, the highest first, as digits of base 16.
                start = self.translated(node.this.args["start"])
                size = 2 * int(node.this.args["length"].name)
                return sqlglot.parse_one(f"CAST('0x' || substring('{value.hex()}', 2 * ({start}) - 1, {size}) AS INT)", read="duckdb")
        if isinstance(node, exp.Table) and isinstance(node.this, exp.Parameter):
            return exp.to_table("held_" + node.this.name.lower(), alias=node.alias or None)
        if isinstance(node, exp.Anonymous) and node.name.upper() == "DATALENGTH":
            return exp.Literal.number(len(self.variables[node.expressions[0].name.lower()]))
        if isinstance(node, (exp.Parameter, exp.Placeholder)):
            if isinstance(node.this, exp.Parameter):
                return exp.Literal.number(self.count)
            name = node.name.lower()
            return read(literal(self.variables[name], self.types.get(name)), "duckdb").copy()
        if isinstance(node, exp.Div):
            # Every division in these texts is one of whole numbers.
            if not (isinstance(node.expression, exp.Literal) and node.expression.is_int):
                raise ValueError(f"a division by {node.expression.sql()}")
            return exp.paren(exp.IntDiv(this=node.this.transform(self.translate), expression=node.expression))
        return node

    def assign(self, targets, tail):
        """Gives variables the values of expressions; where there is no row they keep theirs."""
        values = ", ".join(self.translated(value) for _, value in targets)
        rows = self.ask(f"SELECT {values} {tail}")
        self.count = len(rows)
        for row in rows[-1:]:
            for (name, _), value in zip(targets, row):
                kind = self.types[name]
                self.variables[name] = self.ask(f"SELECT {literal(value, None if value is None else kind)}")[0][0]

    def run(self, sql):
        """One statement; its rows, or nothing."""
        # sqlglot does not read the columns behind OUTPUT ... INTO @t; here they are all of the table, in its order.
        node = read(re.sub(r"(\bOUTPUT .* INTO @\w+) \([\w, ]*\)", r"\1", sql), "tsql")
        if isinstance(node, exp.Update):
            return self.update(node)
        if isinstance(node, exp.Delete):
            return self.delete(node)
        if isinstance(node, exp.Select):
            pairs = [(one.this.name.lower(), one.expression) for one in node.expressions if isinstance(one, exp.EQ)]
            if not pairs:
                return self.ask(self.translated(node))
            if len(pairs) != len(node.expressions):
                raise ValueError(f"assigns and returns: {sql}")
            rest = node.copy()
            rest.set("expressions", [exp.Literal.number(1)])
            # What stands behind the list.
            return self.assign(pairs, self.translated(rest).removeprefix("SELECT 1"))
        if isinstance(node, exp.Insert):
            self.count = self.ask(self.translated(node))[0][0]
            return None
        raise ValueError(f"not known: {sql}")

    def output(self, node, found):
        """The rows of OUTPUT: what was is the table `deleted`, what is the table itself."""
        returning = node.args.get("returning")
        if not returning:
            return None
        columns = ", ".join(self.translated(one) for one in returning.expressions)
        rows = f"SELECT {columns} FROM {found}"
        into = returning.args.get("into")
        if into:
            self.ask(f"INSERT INTO held_{into.find(exp.Parameter).name.lower()} {rows}")
            return None
        return self.ask(rows)

    def update(self, node):
        table, source = node.this.name, node.args.get("from_")
        where = self.translated(node.args["where"].this) if node.args.get("where") else None
        extra = ""
        if source:
            # UPDATE t ... FROM s JOIN t ON ...: the join is the condition.
            inner = source.this
            (join,) = inner.args.get("joins") or node.args.get("joins")
            inner = inner.copy()
            inner.set("joins", None)
            if join.this.name != table or where or join.side:
                raise ValueError(f"an update of another form: {node.sql()}")
            extra, where = f" FROM {self.translated(inner)}", self.translated(join.args["on"])
        pairs = [(one.this, one.expression) for one in node.expressions]
        taken = [(name.name.lower(), value) for name, value in pairs if isinstance(name, exp.Parameter)]
        set_to = ", ".join(f"{name.name} = {self.translated(value)}" for name, value in pairs if not isinstance(name, exp.Parameter))
        if source:
            # A row that several rows of the source match is changed once.
            self.count = self.ask(f"UPDATE {table} SET {set_to}{extra} WHERE {where}")[0][0]
            return None
        self.ask(f"CREATE OR REPLACE TEMP TABLE deleted AS SELECT * FROM {table} WHERE {where}")
        count = self.ask(f"UPDATE {table} SET {set_to} WHERE {where}")[0][0]
        if taken:
            # A variable gets what was there before.
            self.assign(taken, "FROM deleted")
        self.count = count
        same = " AND ".join(f"inserted.{key} = deleted.{key}" for key in KEYS[table])
        return self.output(node, f"deleted JOIN {table} AS inserted ON {same}")

    def delete(self, node):
        table, head = node.this, node.args.get("with_")
        if isinstance(table, exp.Table) and isinstance(table.this, exp.Parameter):
            self.ask(f"DELETE FROM held_{table.this.name.lower()}")
            return None
        name = table.name
        if head:
            (named,) = head.expressions
            if named.alias != name:
                raise ValueError(f"deletes from {name}, not from {named.alias}")
            rows = named.this.copy()
            name = rows.args["from_"].this.name
            rows.set("expressions", [exp.Star()])
            self.ask(f"CREATE OR REPLACE TEMP TABLE deleted AS {self.translated(rows)}")
        else:
            where = self.translated(node.args["where"].this)
            self.ask(f"CREATE OR REPLACE TEMP TABLE deleted AS SELECT * FROM {name} WHERE {where}")
        same = " AND ".join(f"{name}.{key} = deleted.{key}" for key in KEYS[name])
        self.count = self.ask(f"DELETE FROM {name} USING deleted WHERE {same}")[0][0]
        return self.output(node, "deleted")


class Procedure:
    """A procedure: parameters with types, and statements in blocks."""

    STARTS = {"SELECT", "UPDATE", "INSERT", "DELETE", "SET", "BEGIN", "THROW", "ROLLBACK", "COMMIT", "WITH", "IF", "WHILE", "DECLARE"}

    def __init__(self, text):
        self.text = re.sub(r"--.*", "", text)
        head, _, _ = self.text.partition("\nAS\n")
        inside = head[head.index("(") + 1 : head.rindex(")")]
        # A table is there before the call.
        self.parameters = declared(re.sub(r",\s*@\w+\s+\w+\s+READONLY", "", inside))
        body = self.text[len(head) + len("\nAS\n") :]
        self.words = list(re.finditer(r"'(?:[^']|'')*'|@{0,2}\w+|\S", body))
        self.body, self.at = body, 0
        self.block = self.statement()

    def word(self, ahead=0):
        place = self.at + ahead
        return self.words[place].group().upper() if place < len(self.words) else ""

    def until(self, ends):
        """The source up to a word outside parentheses."""
        start, depth = self.at, 0
        while depth or self.word() not in ends:
            depth += {"(": 1, ")": -1}.get(self.word(), 0)
            self.at += 1
        return self.body[self.words[start].start() : self.words[self.at].start()]

    def statement(self):
        word = self.word()
        if word == "BEGIN" and self.word(1) != "TRANSACTION":
            self.at += 1
            block = []
            while self.word() != "END":
                block.append(self.statement())
            self.at += 1
            self.at += self.word() == ";"
            return ("block", block)
        if word in ("IF", "WHILE"):
            self.at += 1
            condition, then, other = self.until(self.STARTS), self.statement(), None
            if word == "IF" and self.word() == "ELSE":
                self.at += 1
                other = self.statement()
            return (word.lower(), condition, then, other)
        sql = self.until({";"})
        self.at += 1
        return ("statement", sql)


def declared(text):
    """Names and types of a list of declarations."""
    parts = re.findall(r"@(\w+)\s+(\w+(?:\([^)]*\))?)", text)
    return [(name.lower(), sqlglot.exp.DataType.build(kind, dialect="tsql").sql(dialect="duckdb")) for name, kind in parts]


class Call:
    """One call of a procedure."""

    def __init__(self, server, procedure, values):
        self.server, self.rows, self.open = server, None, False
        server.variables = {name: value for (name, _), value in zip(procedure.parameters, values, strict=True)}
        server.types = dict(procedure.parameters)
        try:
            self.do(procedure.block)
        except Thrown:
            server.ask("ROLLBACK")
            self.rows = "thrown"
            return
        if self.open:
            raise ValueError("the call leaves a transaction open")

    def holds(self, condition):
        node = read(f"SELECT CASE WHEN {condition} THEN 1 ELSE 0 END", "tsql")
        return self.server.ask(self.server.translated(node))[0][0] == 1

    def do(self, step):
        if step[0] == "block":
            for one in step[1]:
                self.do(one)
        elif step[0] == "if":
            if self.holds(step[1]):
                self.do(step[2])
            elif step[3]:
                self.do(step[3])
        elif step[0] == "while":
            while self.holds(step[1]):
                self.do(step[2])
        else:
            self.simple(step[1].strip())

    def simple(self, sql):
        words = sql.upper().split()
        if words[0] == "DECLARE" and words[2] == "TABLE":
            name = re.search(r"@(\w+)", sql).group(1).lower()
            columns = re.sub(r" PRIMARY KEY", "", sql[sql.index("(") :])
            self.server.ask(f"CREATE OR REPLACE TEMP TABLE held_{name} {columns}")
        elif words[0] == "DECLARE":
            for name, kind in declared(sql):
                self.server.variables[name], self.server.types[name] = None, kind
        elif words[:2] in (["SET", "NOCOUNT"], ["SET", "XACT_ABORT"], ["SET", "TRANSACTION"]):
            return
        elif words[0] == "SET":
            name, _, value = sql[3:].partition("=")
            node = read(f"SELECT {value}", "tsql")
            self.server.assign([(name.strip().lower().lstrip("@"), node.expressions[0])], "")
        elif words[0] in ("BEGIN", "COMMIT", "ROLLBACK"):
            self.server.ask(words[0])
            self.open = words[0] == "BEGIN"
        elif words[0] == "THROW":
            raise Thrown(sql)
        else:
            rows = self.server.run(sql)
            self.rows = rows if rows is not None else self.rows


def binary(numbers):
    return b"".join(number.to_bytes(4, "big") for number in numbers)


class ByProcedures:
    """Transactions by calls."""

    def __init__(self, own):
        self.server = Server()
        self.procedures = {name: Procedure(text) for name, text in own.items() if text.lstrip().startswith("CREATE PROCEDURE")}

    def new_order(self, w_id, d_id, c_id, date, lines):
        return self.call("new_order", w_id, d_id, c_id, date, *(binary(line[place] for line in lines) for place in range(3)))

    def call(self, name, *values):
        return Call(self.server, self.procedures["tprocc_" + name], values).rows

    def __getattr__(self, name):
        return lambda *values: self.call(name, *values)


class ByTable(ByProcedures):
    """The same with the lines of a New-Order as a table."""

    def __init__(self, own):
        super().__init__(own)
        kind = own["tprocc_order_lines"]
        self.columns = re.sub(r",\s*PRIMARY KEY CLUSTERED \([^)]*\)", "", kind[kind.index("(") : kind.rindex(")") + 1])

    def new_order(self, w_id, d_id, c_id, date, lines):
        self.server.ask(f"CREATE OR REPLACE TEMP TABLE held_lines {self.columns}")
        for number, line in enumerate(lines, 1):
            self.server.ask(f"INSERT INTO held_lines VALUES ({number}, {', '.join(map(str, line))})")
        return self.call("new_order_by_table", w_id, d_id, c_id, date)


class ByStatements:
    """Transactions by statements, as the client sends them; what they tell is put together as a call tells it."""

    def __init__(self, own, dialect):
        self.server, self.own, self.dialect = Server(), own, dialect

    def say(self, name, **values):
        sql = re.sub(r"--.*", "", self.own[name]).strip().rstrip(";")
        self.server.variables = values
        if self.dialect == "tsql":
            return self.server.run(re.sub(r"(?<![:\w]):([a-z]\w*)", r"@\1", sql))
        return self.server.ask(self.server.translated(read(sql, self.dialect)))

    def new_order(self, w_id, d_id, c_id, date, lines):
        self.server.ask("BEGIN")
        place = {"w_id": w_id, "d_id": d_id}
        ((w_tax,),) = self.say("new_order_warehouse", w_id=w_id)
        ((d_tax, o_id),) = self.say("new_order_district", **place)
        ((discount, last, credit),) = self.say("new_order_customer", **place, c_id=c_id)
        supplies = {}
        for item, supplier, quantity in lines:
            sums = supplies.setdefault((supplier, item), [0, 0])
            sums[0], sums[1] = sums[0] + quantity, sums[1] + 1
        stock = {}
        for (supplier, item), (quantity, count) in sorted(supplies.items()):
            remote = 0 if supplier == w_id else count
            values = {"w_id": supplier, "i_id": item, "d_id": d_id, "quantity": quantity, "lines": count, "remote_lines": remote}
            rows = self.say("new_order_stock", **values)
            stock.update({(supplier, item): row for row in rows})
        local = int(all(supplier == w_id for _, supplier, _ in lines))
        self.say("new_order_order", **place, o_id=o_id, c_id=c_id, entry_d=date, ol_cnt=len(lines), all_local=local)
        self.say("new_order_queue", **place, o_id=o_id)
        found = []
        for number, (item, supplier, quantity) in enumerate(lines, 1):
            for price, name, data in self.say("new_order_item", i_id=item):
                left, district_info, s_data = stock[supplier, item]
                amount = price * quantity
                line = {"number": number, "i_id": item, "supply_w_id": supplier, "quantity": quantity, "amount": amount}
                self.say("new_order_line", **place, o_id=o_id, **line, dist_info=district_info)
                brand = "B" if "ORIGINAL" in data and "ORIGINAL" in s_data else "G"
                found.append((amount, name, left, brand, price))
        self.server.ask("COMMIT" if len(found) == len(lines) else "ROLLBACK")
        total = sum(line[0] for line in found) * (1 - discount) * (1 + w_tax + d_tax)
        lists = [",".join(str(line[place]) for line in found) for place in (1, 2, 3, 4, 0)]
        return [(o_id, w_tax, d_tax, discount, last, credit, len(found), total, *lists)]

    def payment(self, w_id, d_id, c_w_id, c_d_id, c_id, last, amount, date):
        self.server.ask("BEGIN")
        (warehouse,) = self.say("payment_warehouse", w_id=w_id, amount=amount)
        (district,) = self.say("payment_district", w_id=w_id, d_id=d_id, amount=amount)
        who = {"w_id": c_w_id, "d_id": c_d_id}
        if c_id is None:
            rows = self.say("payment_customer_by_name", **who, last=last, amount=amount)
        else:
            rows = self.say("payment_customer_by_id", **who, c_id=c_id, amount=amount)
        if not rows:
            self.server.ask("ROLLBACK")
            return "thrown"
        ((c_id, credit, data, *person, balance),) = rows
        if credit == "BC":
            data = f"{c_id} {c_d_id} {c_w_id} {d_id} {w_id} {amount} {data}"[:500]
            self.say("payment_customer_data", **who, c_id=c_id, data=data)
        both = f"{warehouse[0]}    {district[0]}"
        keys = {"c_id": c_id, "c_d_id": c_d_id, "c_w_id": c_w_id, "d_id": d_id, "w_id": w_id}
        self.say("payment_history", **keys, date=date, amount=amount, data=both)
        self.server.ask("COMMIT")
        return [(c_id, balance, credit, data, *person, *warehouse, *district)]

    def order_status(self, w_id, d_id, c_id, last):
        who = {"w_id": w_id, "d_id": d_id}
        if c_id is None:
            rows = self.say("order_status_customer_by_name", **who, last=last)
        else:
            rows = self.say("order_status_customer_by_id", **who, c_id=c_id)
        return [(*row, *line) for row in rows for line in self.say("order_status_order", **who, c_id=row[0])]

    def delivery(self, w_id, carrier_id, date):
        self.server.ask("BEGIN")
        delivered = []
        for d_id in range(1, DISTRICTS + 1):
            place = {"w_id": w_id, "d_id": d_id}
            rows = self.say("delivery_take", **place)
            for (o_id,) in rows:
                ((c_id,),) = self.say("delivery_order", **place, o_id=o_id, carrier_id=carrier_id)
                amount = sum(line[0] for line in self.say("delivery_lines", **place, o_id=o_id, delivery_d=date))
                self.say("delivery_customer", **place, c_id=c_id, amount=amount)
            delivered.append((d_id, rows[0][0] if rows else None))
        self.server.ask("COMMIT")
        return delivered

    def stock_level(self, w_id, d_id, threshold):
        return self.say("stock_level", w_id=w_id, d_id=d_id, threshold=threshold)


def population():
    """Rows of a small database, by table."""
    dice, day = random.Random(14), datetime.datetime(2026, 1, 1)

    def word(size):
        return "".join(dice.choice("abcdefghij") for _ in range(size))

    def brand():
        return word(9) + ("ORIGINAL" if dice.random() < 0.5 else "") + word(9)

    def place():
        return word(9), word(9), word(9), word(2), "123411111"

    rows = {table: [] for table in re.findall(r"CREATE TABLE (\w+)", SCHEMA)}
    rows["item"] = [(i, i, word(14), D(dice.randint(100, 9999)) / 100, brand()) for i in range(1, ITEMS + 1)]
    for w in range(1, WAREHOUSES + 1):
        rows["warehouse"].append((w, word(7), *place(), D(dice.randint(1, 1999)) / 10000, D(300000)))
        for i in range(1, ITEMS + 1):
            rows["stock"].append((i, w, dice.randint(10, 30), *(word(24) for _ in range(10)), 0, 0, 0, brand()))
        for d in range(1, DISTRICTS + 1):
            rows["district"].append((d, w, word(7), *place(), D(dice.randint(1, 1999)) / 10000, D(30000), ORDERS + 1))
            for c in range(1, CUSTOMERS + 1):
                name, credit = dice.choice(NAMES), dice.choice(["BC", "GC"])
                money = (D(50000), D(dice.randint(0, 4999)) / 10000, D(-10), D(10), 1, 0)
                person = (word(9), "OE", name, *place(), word(16), day, credit)
                rows["customer"].append((c, d, w, *person, *money, word(dice.choice([300, 490]))))
            for o in range(1, ORDERS + 1):
                # The last orders are not delivered; district 10 has none that waits.
                waits = o > 3 and d != DISTRICTS
                count = dice.randint(2, 4)
                rows["orders"].append((o, d, w, dice.randint(1, CUSTOMERS), day, None if waits else 7, count, 1))
                if waits:
                    rows["new_order"].append((o, d, w))
                for number in range(1, count + 1):
                    line = (dice.randint(1, ITEMS), w, None if waits else day, 5, D(dice.randint(1, 9999)) / 100)
                    rows["order_line"].append((o, d, w, number, *line, word(24)))
    return rows


def transactions():
    """What is asked: each kind, with every case that the texts tell apart."""
    dice, asked = random.Random(15), []
    at = datetime.datetime(2026, 2, 1)
    for turn in range(12):
        w, d = dice.randint(1, WAREHOUSES), dice.randint(1, DISTRICTS)
        c, last = dice.randint(1, CUSTOMERS), dice.choice(NAMES)
        lines = [(dice.randint(1, ITEMS), dice.choice([w, w, 3 - w]), dice.randint(1, 10)) for _ in range(dice.randint(5, 15))]
        if turn % 3 == 1:
            lines[-1] = lines[0]
        if turn % 6 == 5:
            lines[-1] = (ITEMS + 1, w, 3)
        at += datetime.timedelta(seconds=1, microseconds=7)
        asked.append(("new_order", w, d, c, at, lines))
        by_name = turn % 2 == 0
        who = (None, last) if by_name else (c, None)
        payer = (3 - w, dice.randint(1, DISTRICTS)) if turn % 4 == 0 else (w, d)
        asked.append(("payment", w, d, *payer, *who, D(dice.randint(100, 499999)) / 100, at))
        asked.append(("order_status", w, d, *who))
        asked.append(("order_status", w, d, c, None))
        asked.append(("stock_level", w, d, dice.randint(12, 24)))
        if turn % 4 == 3:
            asked.append(("delivery", w, dice.randint(1, 10), at))
    asked.append(("payment", 1, 1, 1, 1, CUSTOMERS + 1, None, D("1.00"), at))
    # A second delivery in a row empties queues further.
    return asked + [("delivery", 1, 3, at), ("delivery", 1, 4, at), ("delivery", 1, 5, at)]


def load(server, rows):
    plain = re.sub(r",\s*PRIMARY KEY CLUSTERED \([^)]*\)", "", SCHEMA)
    for statement in sqlglot.transpile(plain, read="tsql", write="duckdb"):
        server.ask(statement)
    for table, lines in rows.items():
        if lines:
            values = ", ".join(f"({', '.join(literal(value) for value in line)})" for line in lines)
            server.ask(f"INSERT INTO {table} VALUES {values}")


def alike(rows):
    """Rows with decimals by their value and texts without blanks at their end."""
    if not isinstance(rows, list):
        return rows
    return [tuple(one.normalize() if isinstance(one, D) else one.rstrip() if isinstance(one, str) else one for one in row) for row in rows]


def recorded(runner, rows, asked, expected=None):
    """What each transaction returned and the tables at the end; the first difference ends it."""
    load(runner.server, rows)
    told = []
    for number, (kind, *values) in enumerate(asked):
        answer = alike(getattr(runner, kind)(*values))
        told.append(answer)
        if expected is not None and expected[number] != answer:
            return f"transaction {number + 1}, {kind}{tuple(values)}: {answer}, but the standard texts give {expected[number]}"
    for table in rows:
        held = sorted(alike(runner.server.ask(f"SELECT * FROM {table}")), key=repr)
        told.append(held)
        if expected is not None and expected[len(told) - 1] != held:
            other = expected[len(told) - 1]
            return f"rows of {table}: {[row for row in held if row not in other][:2]}, but {[row for row in other if row not in held][:2]} are right"
    return told if expected is None else None


# Name of a text, what stands in it, what is put there.
WRONG = [
    ("new_order_district", "deleted.d_next_o_id", "inserted.d_next_o_id"),
    ("new_order_stock", "inserted.s_quantity", "deleted.s_quantity"),
    ("new_order_stock", "- 10) % 91", "- 11) % 91"),
    ("payment_customer_by_name", "ORDER BY c_first, c_id", "ORDER BY c_first DESC, c_id"),
    ("payment_customer_by_id", "inserted.c_balance", "deleted.c_balance"),
    ("order_status_customer_by_name", "(namesakes + 1) / 2", "namesakes / 2 + 1"),
    ("order_status_order", "ORDER BY o_id DESC", "ORDER BY o_id"),
    ("delivery_take", "ORDER BY no_o_id", "ORDER BY no_o_id DESC"),
    ("tprocc_new_order", "min(CASE supplier", "max(CASE supplier"),
    ("tprocc_new_order", "IF @found < @count", "IF @found > @count"),
    ("tprocc_new_order", "4 * number - 3, 4) AS int), CAST(SUBSTRING(@suppliers", "4 * number - 2, 4) AS int), CAST(SUBSTRING(@suppliers"),
    ("tprocc_new_order", "GROUP BY supplier, item", "GROUP BY supplier, item, number"),
    ("tprocc_new_order", "(1 - @c_discount)", "(1 + @c_discount)"),
    ("tprocc_new_order", "WHEN @w_id THEN 0", "WHEN @w_id THEN 1"),
    ("tprocc_new_order_by_table", "@count = count(*) FROM @lines", "@count = count(*) - 1 FROM @lines"),
    ("tprocc_new_order_by_table", "WHEN @w_id THEN 0", "WHEN @w_id THEN 1"),
    ("tprocc_payment", "c_d_id, c_w_id, @d_id", "c_w_id, c_d_id, @d_id"),
    ("tprocc_payment", "(namesakes + 1) / 2", "namesakes / 2 + 1"),
    ("tprocc_payment", "IF @@ROWCOUNT <> 1", "IF @@ROWCOUNT > 1"),
    ("tprocc_order_status", "max(o_id)", "min(o_id)"),
    ("tprocc_delivery", "SET @o_id = NULL", "SET @amount = NULL"),
    ("tprocc_delivery", "@d_id <= 10", "@d_id < 10"),
    ("tprocc_delivery", "c_balance + @amount", "c_balance - @amount"),
    ("tprocc_stock_level", "count(DISTINCT s_i_id)", "count(s_i_id)"),
]


def main():
    rows, asked, faults, refused = population(), transactions(), [], 0
    expected = recorded(ByStatements(STANDARD, "postgres"), rows, asked)
    own = {**STANDARD, **OWN}
    forms = {"statements": lambda own: ByStatements(own, "tsql"), "procedures": ByProcedures, "table": ByTable}
    for name, form in forms.items():
        what = recorded(form(own), rows, asked, expected)
        faults += [f"DIFFERS {name}: {what}"] if what else []
    for name, was, put in WRONG:
        if own[name].count(was) == 0:
            faults.append(f"NOT TRIED {name}: {was!r} does not stand in it")
            continue
        kind = "table" if name.endswith("_by_table") else "procedures" if name.startswith("tprocc_") else "statements"
        form = forms[kind]
        if recorded(form({**own, name: own[name].replace(was, put, 1)}), rows, asked, expected) is None:
            faults.append(f"TAKEN although wrong: {name} with {put!r} for {was!r}")
        else:
            refused += 1
    for line in faults:
        print(line)
    right = sum(not any(line.startswith(f"DIFFERS {name}") for line in faults) for name in forms)
    print(
        f"{len(asked)} transactions of TPROC-C: {right} of {len(forms)} forms (statements, procedures, table of lines) return and leave what the standard texts do; "
        f"{refused} of {len(WRONG)} wrong texts are refused"
    )
    sys.exit(1 if faults else 0)


main()
