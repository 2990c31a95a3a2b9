//! The nine tables as engines load them, from the columns that the generator draws.

use proofload_engine as engine;
use proofload_gen::tprocc::population::{Column, Kind, Table};

/// The most columns that a table has.
pub(super) const MOST_COLUMNS: usize = 21;

/// The columns of a table for an engine; `N` is their number.
const fn columns<const N: usize>(table: Table) -> [engine::Column<'static>; N] {
    let from: &[Column] = table.columns();
    assert!(from.len() == N && N <= MOST_COLUMNS);
    let mut columns = [engine::Column { name: "", kind: engine::ColumnKind::Text }; N];
    let mut place = 0;
    while place < N {
        let kind = match from[place].kind {
            Kind::Integer => engine::ColumnKind::Integer { bits: 32 },
            Kind::Hundredths => engine::ColumnKind::Decimal { scale: 2 },
            Kind::TenThousandths => engine::ColumnKind::Decimal { scale: 4 },
            Kind::Timestamp => engine::ColumnKind::Time,
            Kind::Text { .. } => engine::ColumnKind::Text,
        };
        columns[place] = engine::Column { name: from[place].name, kind };
        place += 1;
    }
    columns
}

static WAREHOUSE: [engine::Column; 9] = columns(Table::Warehouse);
static DISTRICT: [engine::Column; 11] = columns(Table::District);
static CUSTOMER: [engine::Column; 21] = columns(Table::Customer);
static HISTORY: [engine::Column; 8] = columns(Table::History);
static NEW_ORDER: [engine::Column; 3] = columns(Table::NewOrder);
static ORDERS: [engine::Column; 8] = columns(Table::Orders);
static ORDER_LINE: [engine::Column; 10] = columns(Table::OrderLine);
static ITEM: [engine::Column; 5] = columns(Table::Item);
static STOCK: [engine::Column; 17] = columns(Table::Stock);

/// The shape in which an engine loads a table.
pub(super) fn shape(table: Table) -> engine::Table<'static> {
    let columns: &'static [engine::Column] = match table {
        Table::Warehouse => &WAREHOUSE,
        Table::District => &DISTRICT,
        Table::Customer => &CUSTOMER,
        Table::History => &HISTORY,
        Table::NewOrder => &NEW_ORDER,
        Table::Orders => &ORDERS,
        Table::OrderLine => &ORDER_LINE,
        Table::Item => &ITEM,
        Table::Stock => &STOCK,
    };
    engine::Table { name: table.name(), columns }
}

/// The key by which the rows of a table are drawn, each larger than the one before; history has none.
pub(super) fn key(table: Table) -> &'static [&'static str] {
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
