//! A model of the nine tables and the five transactions in plain Rust, line by line as clauses 2.4 to 2.8 say it: slow,
//! simple, and sharing nothing with the SQL.

use proofload_gen::tprocc::Scale;
use proofload_gen::tprocc::inputs::{CustomerBy, Delivery, NewOrder, OrderStatus, Payment, StockLevel};
use proofload_gen::tprocc::population::{
    Chunk, Column, ContentHash, Hundredths, Kind, Population, Row, RowHash, RowStream, StreamVisitor, Table,
    TenThousandths, Timestamp, Value,
};
use std::collections::BTreeMap;
use std::convert::Infallible;

/// A value of a cell: numbers of every kind, texts, nulls.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Cell {
    Null,
    Number(i64),
    Text(String),
}

/// A row by column name.
type Cells = BTreeMap<&'static str, Cell>;

/// A row's key: up to four numbers; history has a running one.
type Key = Vec<i64>;

/// The database.
#[derive(Debug, Default)]
pub(super) struct Model {
    tables: BTreeMap<&'static str, BTreeMap<Key, Cells>>,
}

/// Names of the key's columns.
fn key_columns(table: Table) -> &'static [&'static str] {
    match table {
        Table::Warehouse => &["w_id"],
        Table::District => &["d_w_id", "d_id"],
        Table::Customer => &["c_w_id", "c_d_id", "c_id"],
        Table::History => &[],
        Table::NewOrder => &["no_w_id", "no_d_id", "no_o_id"],
        Table::Orders => &["o_w_id", "o_d_id", "o_id"],
        Table::OrderLine => &["ol_w_id", "ol_d_id", "ol_o_id", "ol_number"],
        Table::Item => &["i_id"],
        Table::Stock => &["s_w_id", "s_i_id"],
    }
}

impl Model {
    /// The database after the load.
    pub(super) fn loaded(population: &Population, warehouses: i32) -> Self {
        let mut model = Self::default();
        for chunk in Chunk::all(warehouses) {
            let Ok(()) = population.visit(chunk, &mut model);
        }
        model
    }

    /// Content of every table.
    pub(super) fn content(&self) -> Vec<(&'static str, ContentHash)> {
        Table::ALL.into_iter().map(|table| (table.name(), self.hash(table))).collect()
    }

    fn hash(&self, table: Table) -> ContentHash {
        let mut hash = ContentHash::default();
        for cells in self.tables[table.name()].values() {
            let mut row = RowHash::new(table);
            table.columns().iter().for_each(|column| row.value(value(column, &cells[column.name])));
            hash.add(row);
        }
        hash
    }

    fn insert(&mut self, table: Table, cells: Cells) {
        let rows = self.tables.entry(table.name()).or_default();
        let key = match key_columns(table) {
            [] => vec![rows.len() as i64],
            columns => columns.iter().map(|column| number(&cells[column])).collect(),
        };
        assert!(rows.insert(key, cells).is_none(), "a key of {} occurs twice", table.name());
    }

    fn row(&mut self, table: Table, key: &[i32]) -> Option<&mut Cells> {
        let key: Key = key.iter().map(|part| i64::from(*part)).collect();
        self.tables.get_mut(table.name())?.get_mut(&key)
    }

    /// Rows whose key starts so.
    fn rows<'a>(&'a self, table: Table, start: &[i32]) -> impl Iterator<Item = &'a Cells> + use<'a> {
        let start: Key = start.iter().map(|part| i64::from(*part)).collect();
        let from = self.tables[table.name()].range(start.clone()..);
        from.take_while(move |(key, _)| key.starts_with(&start)).map(|(_, cells)| cells)
    }

    /// Number of the customer meant: by last name the middle one in the order of first names.
    fn customer(&self, w_id: i32, d_id: i32, by: &CustomerBy) -> i32 {
        let last = match by {
            CustomerBy::Id(c_id) => return *c_id,
            CustomerBy::LastName(last) => Cell::Text(last.as_str().to_owned()),
        };
        let mut named: Vec<(String, i64)> = self
            .rows(Table::Customer, &[w_id, d_id])
            .filter(|customer| customer["c_last"] == last)
            .map(|customer| (text(&customer["c_first"]), number(&customer["c_id"])))
            .collect();
        named.sort();
        // Clause 2.5.2.2: position n/2 rounded up, counted from 1.
        narrow(named[named.len().div_ceil(2) - 1].1)
    }

    /// New-Order, clause 2.4.2; returns the total's ten-digit units and the order's number, `None` when it was rolled
    /// back.
    pub(super) fn new_order(&mut self, input: &NewOrder, date: i64) -> Option<(i64, i32)> {
        if input.rolls_back {
            return None;
        }
        let NewOrder { w_id, d_id, c_id, ol_cnt, .. } = *input;
        let w_tax = number(&self.row(Table::Warehouse, &[w_id])?["w_tax"]);
        let district = self.row(Table::District, &[w_id, d_id])?;
        let (d_tax, o_id) = (number(&district["d_tax"]), narrow(number(&district["d_next_o_id"])));
        add(district, "d_next_o_id", 1);
        let c_discount = number(&self.row(Table::Customer, &[w_id, d_id, c_id])?["c_discount"]);
        let all_local = i32::from(input.lines().iter().all(|line| line.ol_supply_w_id == w_id));
        self.insert(
            Table::Orders,
            cells(&[
                ("o_id", o_id.into()),
                ("o_d_id", d_id.into()),
                ("o_w_id", w_id.into()),
                ("o_c_id", c_id.into()),
                ("o_entry_d", Cell::Number(date)),
                ("o_carrier_id", Cell::Null),
                ("o_ol_cnt", ol_cnt.into()),
                ("o_all_local", all_local.into()),
            ]),
        );
        self.insert(
            Table::NewOrder,
            cells(&[("no_o_id", o_id.into()), ("no_d_id", d_id.into()), ("no_w_id", w_id.into())]),
        );
        let mut sum = 0;
        for (ol_number, line) in (1..).zip(input.lines()) {
            let i_price = number(&self.row(Table::Item, &[line.ol_i_id])?["i_price"]);
            let dist_info =
                self.take_stock(line.ol_supply_w_id, line.ol_i_id, d_id, line.ol_quantity, line.ol_supply_w_id != w_id);
            let amount = i64::from(line.ol_quantity) * i_price;
            sum += amount;
            self.insert(
                Table::OrderLine,
                cells(&[
                    ("ol_o_id", o_id.into()),
                    ("ol_d_id", d_id.into()),
                    ("ol_w_id", w_id.into()),
                    ("ol_number", ol_number.into()),
                    ("ol_i_id", line.ol_i_id.into()),
                    ("ol_supply_w_id", line.ol_supply_w_id.into()),
                    ("ol_delivery_d", Cell::Null),
                    ("ol_quantity", line.ol_quantity.into()),
                    ("ol_amount", Cell::Number(amount)),
                    ("ol_dist_info", dist_info),
                ]),
            );
        }
        Some((sum * (10_000 - c_discount) * (10_000 + w_tax + d_tax), o_id))
    }

    /// One line's stock, as the clause says it; returns s_dist_nn.
    fn take_stock(&mut self, w_id: i32, i_id: i32, d_id: i32, quantity: i32, is_remote: bool) -> Cell {
        let stock = self.row(Table::Stock, &[w_id, i_id]).unwrap();
        let left = number(&stock["s_quantity"]) - i64::from(quantity);
        stock.insert("s_quantity", Cell::Number(if left >= 10 { left } else { left + 91 }));
        add(stock, "s_ytd", quantity.into());
        add(stock, "s_order_cnt", 1);
        add(stock, "s_remote_cnt", is_remote.into());
        stock[format!("s_dist_{d_id:02}").as_str()].clone()
    }

    /// Payment, clause 2.5.2; returns c_id and c_balance.
    pub(super) fn payment(&mut self, input: &Payment, date: i64) -> (i32, i64) {
        let Payment { w_id, d_id, c_w_id, c_d_id, .. } = *input;
        let amount = input.h_amount.0;
        let warehouse = self.row(Table::Warehouse, &[w_id]).unwrap();
        add(warehouse, "w_ytd", amount);
        let w_name = text(&warehouse["w_name"]);
        let district = self.row(Table::District, &[w_id, d_id]).unwrap();
        add(district, "d_ytd", amount);
        let d_name = text(&district["d_name"]);
        let c_id = self.customer(c_w_id, c_d_id, &input.customer);
        let customer = self.row(Table::Customer, &[c_w_id, c_d_id, c_id]).unwrap();
        add(customer, "c_balance", -amount);
        add(customer, "c_ytd_payment", amount);
        add(customer, "c_payment_cnt", 1);
        if text(&customer["c_credit"]) == "BC" {
            let paid = format!("{c_id} {c_d_id} {c_w_id} {d_id} {w_id} {}.{:02} ", amount / 100, amount % 100);
            let data: String = (paid + &text(&customer["c_data"])).chars().take(500).collect();
            customer.insert("c_data", Cell::Text(data));
        }
        let balance = number(&customer["c_balance"]);
        self.insert(
            Table::History,
            cells(&[
                ("h_c_id", c_id.into()),
                ("h_c_d_id", c_d_id.into()),
                ("h_c_w_id", c_w_id.into()),
                ("h_d_id", d_id.into()),
                ("h_w_id", w_id.into()),
                ("h_date", Cell::Number(date)),
                ("h_amount", Cell::Number(amount)),
                ("h_data", Cell::Text(format!("{w_name}    {d_name}"))),
            ]),
        );
        (c_id, balance)
    }

    /// Order-Status, clause 2.6.2; returns c_id, o_id and the number of lines.
    pub(super) fn order_status(&self, input: &OrderStatus) -> (i32, i32, usize) {
        let OrderStatus { w_id, d_id, customer } = input;
        let c_id = self.customer(*w_id, *d_id, customer);
        let orders = self.rows(Table::Orders, &[*w_id, *d_id]);
        let of_customer = orders.filter(|order| order["o_c_id"] == c_id.into()).map(|order| number(&order["o_id"]));
        let o_id = narrow(of_customer.max().unwrap());
        (c_id, o_id, self.rows(Table::OrderLine, &[*w_id, *d_id, o_id]).count())
    }

    /// Delivery, clause 2.7.4; returns the orders delivered by district.
    pub(super) fn delivery(&mut self, input: &Delivery, date: i64) -> [Option<i32>; 10] {
        let w_id = input.w_id;
        std::array::from_fn(|index| {
            let d_id = index as i32 + 1;
            let queue = self.rows(Table::NewOrder, &[w_id, d_id]);
            let o_id = queue.map(|order| narrow(number(&order["no_o_id"]))).min()?;
            self.tables.get_mut("new_order")?.remove(&vec![w_id.into(), d_id.into(), i64::from(o_id)]);
            let order = self.row(Table::Orders, &[w_id, d_id, o_id]).unwrap();
            order.insert("o_carrier_id", input.o_carrier_id.into());
            let c_id = narrow(number(&order["o_c_id"]));
            let mut sum = 0;
            for ol_number in 1..=15 {
                if let Some(line) = self.row(Table::OrderLine, &[w_id, d_id, o_id, ol_number]) {
                    line.insert("ol_delivery_d", Cell::Number(date));
                    sum += number(&line["ol_amount"]);
                }
            }
            let customer = self.row(Table::Customer, &[w_id, d_id, c_id]).unwrap();
            add(customer, "c_balance", sum);
            add(customer, "c_delivery_cnt", 1);
            Some(o_id)
        })
    }

    /// Stock-Level, clause 2.8.2; returns how many items run short.
    pub(super) fn stock_level(&mut self, input: &StockLevel) -> i32 {
        let StockLevel { w_id, d_id, threshold } = *input;
        let next = narrow(number(&self.row(Table::District, &[w_id, d_id]).unwrap()["d_next_o_id"]));
        let mut items: Vec<i32> = (next - 20..next)
            .flat_map(|o_id| {
                self.rows(Table::OrderLine, &[w_id, d_id, o_id]).map(|line| narrow(number(&line["ol_i_id"])))
            })
            .collect();
        items.sort_unstable();
        items.dedup();
        items.retain(|i_id| number(&self.row(Table::Stock, &[w_id, *i_id]).unwrap()["s_quantity"]) < threshold.into());
        items.len() as i32
    }
}

impl StreamVisitor for Model {
    type Error = Infallible;

    fn visit<S: RowStream>(&mut self, mut rows: S) -> Result<(), Infallible> {
        while let Some(row) = rows.next_row() {
            let mut cells = Cells::new();
            let mut columns = S::Row::COLUMNS.iter();
            row.for_each_value(|value| {
                cells.insert(columns.next().unwrap().name, cell(value));
            });
            self.insert(S::Row::TABLE, cells);
        }
        Ok(())
    }
}

impl From<i32> for Cell {
    fn from(value: i32) -> Self {
        Self::Number(value.into())
    }
}

fn cells(pairs: &[(&'static str, Cell)]) -> Cells {
    pairs.iter().cloned().collect()
}

fn add(row: &mut Cells, column: &'static str, more: i64) {
    let sum = number(&row[column]) + more;
    row.insert(column, Cell::Number(sum));
}

fn number(cell: &Cell) -> i64 {
    match cell {
        Cell::Number(number) => *number,
        other => panic!("{other:?} is no number"),
    }
}

fn narrow(number: i64) -> i32 {
    i32::try_from(number).unwrap()
}

fn text(cell: &Cell) -> String {
    match cell {
        Cell::Text(text) => text.clone(),
        other => panic!("{other:?} is no text"),
    }
}

fn cell(value: Value<'_>) -> Cell {
    match value {
        Value::Null => Cell::Null,
        Value::Integer(number)
        | Value::Hundredths(Hundredths(number))
        | Value::TenThousandths(TenThousandths(number))
        | Value::Timestamp(Timestamp(number)) => Cell::Number(number),
        Value::Text(text) => Cell::Text(String::from_utf8_lossy(text).into_owned()),
    }
}

fn value<'a>(column: &Column, cell: &'a Cell) -> Value<'a> {
    match (cell, column.kind) {
        (Cell::Null, _) => Value::Null,
        (Cell::Text(text), _) => Value::Text(text.as_bytes()),
        (Cell::Number(number), Kind::Integer | Kind::Text { .. }) => Value::Integer(*number),
        (Cell::Number(number), Kind::Hundredths) => Value::Hundredths(Hundredths(*number)),
        (Cell::Number(number), Kind::TenThousandths) => Value::TenThousandths(TenThousandths(*number)),
        (Cell::Number(number), Kind::Timestamp) => Value::Timestamp(Timestamp(*number)),
    }
}

/// The model at the toy scale has what the specification asks for, a hundredth of it.
#[test]
fn the_model_begins_with_the_loaded_rows() {
    use proofload_gen::Seed;
    use proofload_gen::tprocc::{CLoad, Profile};
    let seed = Seed(1);
    let loaded_at = Timestamp(0);
    let population = Population {
        seed,
        profile: Profile::SPEC,
        scale: Scale::TOY,
        c_load: CLoad::draw(seed, &Profile::SPEC),
        loaded_at,
    };
    let model = Model::loaded(&population, 1);
    let mut sum = ContentHash::default();
    model.content().into_iter().for_each(|(_, content)| sum.merge(content));
    let mut draws = ContentHash::default();
    Chunk::all(1).for_each(|chunk| draws.merge(population.content_hash(chunk)));
    assert_eq!(sum, draws);
}
