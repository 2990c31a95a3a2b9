//! Rows of the generator crate, table by table. The only module that knows the crate.

use super::content::Content;
use super::date::Date;
use super::row::Row;
use super::tables::Table;
use tpchgen::dates::TPCHDate;
use tpchgen::generators::{
    Customer, CustomerGenerator, CustomerGeneratorIterator, LineItem, LineItemGenerator, LineItemGeneratorIterator,
    Nation, NationGenerator, NationGeneratorIterator, Order, OrderGenerator, OrderGeneratorIterator, Part,
    PartGenerator, PartGeneratorIterator, PartSupp, PartSuppGenerator, PartSuppGeneratorIterator, Region,
    RegionGenerator, RegionGeneratorIterator, Supplier, SupplierGenerator, SupplierGeneratorIterator,
};

/// Crate and version, as the manifest notes them. Data of another version are refused.
pub(crate) const GENERATOR: &str = "tpchgen 4.0.0";

/// The rows of a part of a table.
pub(crate) enum Rows {
    Region(RegionGeneratorIterator<'static>),
    Nation(NationGeneratorIterator<'static>),
    Part(PartGeneratorIterator<'static>),
    Supplier(SupplierGeneratorIterator<'static>),
    PartSupp(PartSuppGeneratorIterator<'static>),
    Customer(CustomerGeneratorIterator<'static>),
    Orders(OrderGeneratorIterator<'static>),
    LineItem(LineItemGeneratorIterator<'static>),
}

impl Rows {
    /// Part `part` of 1..=`parts`, which together give the whole table whatever their number.
    pub(crate) fn new(table: Table, scale: f64, part: i32, parts: i32) -> Self {
        match table {
            Table::Region => Self::Region(RegionGenerator::new(scale, part, parts).iter()),
            Table::Nation => Self::Nation(NationGenerator::new(scale, part, parts).iter()),
            Table::Part => Self::Part(PartGenerator::new(scale, part, parts).iter()),
            Table::Supplier => Self::Supplier(SupplierGenerator::new(scale, part, parts).iter()),
            Table::PartSupp => Self::PartSupp(PartSuppGenerator::new(scale, part, parts).iter()),
            Table::Customer => Self::Customer(CustomerGenerator::new(scale, part, parts).iter()),
            Table::Orders => Self::Orders(OrderGenerator::new(scale, part, parts).iter()),
            Table::LineItem => Self::LineItem(LineItemGenerator::new(scale, part, parts).iter()),
        }
    }

    /// Puts the next row's values into the row; false when there is none left.
    pub(crate) fn next(&mut self, into: &mut Row) -> bool {
        into.clear();
        let put = match self {
            Self::Region(rows) => rows.next().map(|row| region(&row, into)),
            Self::Nation(rows) => rows.next().map(|row| nation(&row, into)),
            Self::Part(rows) => rows.next().map(|row| part(&row, into)),
            Self::Supplier(rows) => rows.next().map(|row| supplier(&row, into)),
            Self::PartSupp(rows) => rows.next().map(|row| partsupp(&row, into)),
            Self::Customer(rows) => rows.next().map(|row| customer(&row, into)),
            Self::Orders(rows) => rows.next().map(|row| order(&row, into)),
            Self::LineItem(rows) => rows.next().map(|row| lineitem(&row, into)),
        };
        put.is_some()
    }
}

/// The key of an order by its number, 1 and up: keys are sparse, 8 of 32 are used.
pub(super) fn order_key(number: i64) -> i64 {
    OrderGenerator::make_order_key(number)
}

fn day(date: TPCHDate) -> Date {
    Date(date.to_unix_epoch())
}

fn region(row: &Region<'_>, into: &mut Row) {
    into.integer(row.r_regionkey);
    into.text(row.r_name);
    into.text(row.r_comment);
}

fn nation(row: &Nation<'_>, into: &mut Row) {
    into.integer(row.n_nationkey);
    into.text(row.n_name);
    into.integer(row.n_regionkey);
    into.text(row.n_comment);
}

fn part(row: &Part<'_>, into: &mut Row) {
    into.integer(row.p_partkey);
    into.shown(&row.p_name);
    into.shown(&row.p_mfgr);
    into.shown(&row.p_brand);
    into.text(row.p_type);
    into.integer(row.p_size.into());
    into.text(row.p_container);
    into.decimal(row.p_retailprice.into_inner());
    into.text(row.p_comment);
}

fn supplier(row: &Supplier, into: &mut Row) {
    into.integer(row.s_suppkey);
    into.shown(&row.s_name);
    into.shown(&row.s_address);
    into.integer(row.s_nationkey);
    into.shown(&row.s_phone);
    into.decimal(row.s_acctbal.into_inner());
    into.text(&row.s_comment);
}

fn partsupp(row: &PartSupp<'_>, into: &mut Row) {
    into.integer(row.ps_partkey);
    into.integer(row.ps_suppkey);
    into.integer(row.ps_availqty.into());
    into.decimal(row.ps_supplycost.into_inner());
    into.text(row.ps_comment);
}

fn customer(row: &Customer<'_>, into: &mut Row) {
    into.integer(row.c_custkey);
    into.shown(&row.c_name);
    into.shown(&row.c_address);
    into.integer(row.c_nationkey);
    into.shown(&row.c_phone);
    into.decimal(row.c_acctbal.into_inner());
    into.text(row.c_mktsegment);
    into.text(row.c_comment);
}

fn order(row: &Order<'_>, into: &mut Row) {
    into.integer(row.o_orderkey);
    into.integer(row.o_custkey);
    into.text(row.o_orderstatus.as_str());
    into.decimal(row.o_totalprice.into_inner());
    into.date(day(row.o_orderdate));
    into.text(row.o_orderpriority);
    into.shown(&row.o_clerk);
    into.integer(row.o_shippriority.into());
    into.text(row.o_comment);
}

fn lineitem(row: &LineItem<'_>, into: &mut Row) {
    into.integer(row.l_orderkey);
    into.integer(row.l_partkey);
    into.integer(row.l_suppkey);
    into.integer(row.l_linenumber.into());
    into.decimal(row.l_quantity * 100);
    into.decimal(row.l_extendedprice.into_inner());
    into.decimal(row.l_discount.into_inner());
    into.decimal(row.l_tax.into_inner());
    into.text(row.l_returnflag);
    into.text(row.l_linestatus);
    into.date(day(row.l_shipdate));
    into.date(day(row.l_commitdate));
    into.date(day(row.l_receiptdate));
    into.text(row.l_shipinstruct);
    into.text(row.l_shipmode);
    into.text(row.l_comment);
}

/// Generates a whole table and sums it up, as a load does, but sends it nowhere: rows, and bytes of their official text
/// form. `None` when there is no such table. For benches.
pub fn generated(table: &str, scale: f64) -> Option<(u64, u64)> {
    let table = Table::ALL.into_iter().find(|known| known.name() == table)?;
    let (mut content, mut row) = (Content::default(), Row::new());
    let mut rows = Rows::new(table, scale, 1, 1);
    while rows.next(&mut row) {
        content.add(table, &row);
    }
    Some((content.rows, content.bytes))
}
