//! One struct per table: the columns of clause 1.3 as fields.
//!
//! Rows are plain data, overwritten in place; how they are drawn is in the modules beside.

use super::catalogue::{Column, Table};
use super::value::{Field, Hundredths, TenThousandths, Timestamp, Value};
use crate::Text;

/// Something that takes the values of a row one after another. A closure would do, but nobody can say of one that it is compiled in line, where
/// the kind of each column's value is known.
pub trait ValueVisitor<'a> {
    /// Takes the next column's value.
    fn visit(&mut self, value: Value<'a>);
}

/// A row of a table, seen as values.
pub trait Row: Default {
    /// The table.
    const TABLE: Table;

    /// The columns, in the order of [`for_each_value`](Self::for_each_value).
    const COLUMNS: &'static [Column];

    /// Hands the value of each column to `visitor`, in the table's order.
    fn visit_values<'a>(&'a self, visitor: &mut impl ValueVisitor<'a>);

    /// Calls `visit` once per column, in the table's order.
    #[inline]
    fn for_each_value<'a>(&'a self, visit: impl FnMut(Value<'a>)) {
        self.visit_values(&mut Each(visit));
    }
}

/// A closure as a visitor.
struct Each<F>(F);

impl<'a, F: FnMut(Value<'a>)> ValueVisitor<'a> for Each<F> {
    #[inline]
    fn visit(&mut self, value: Value<'a>) {
        (self.0)(value);
    }
}

macro_rules! row {
    ($(#[$row_doc:meta])* $row:ident, $table:ident; $($(#[$doc:meta])* $column:ident: $type:ty,)*) => {
        $(#[$row_doc])*
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct $row {
            $($(#[$doc])* pub $column: $type,)*
        }

        impl Row for $row {
            const TABLE: Table = Table::$table;
            const COLUMNS: &'static [Column] = &[$(Column {
                name: stringify!($column),
                kind: <$type as Field>::KIND,
                nullable: <$type as Field>::NULLABLE,
            },)*];

            #[inline]
            fn visit_values<'a>(&'a self, visitor: &mut impl ValueVisitor<'a>) {
                $(visitor.visit(self.$column.value());)*
            }
        }
    };
}

row! {
    /// A row of warehouse.
    Warehouse, Warehouse;
    /// Number of the warehouse, from 1.
    w_id: i32,
    /// A-string of 6 to 10.
    w_name: Text<10>,
    /// A-string of 10 to 20.
    w_street_1: Text<20>,
    /// A-string of 10 to 20.
    w_street_2: Text<20>,
    /// A-string of 10 to 20.
    w_city: Text<20>,
    /// 2 letters.
    w_state: Text<2>,
    /// 4 digits and 11111.
    w_zip: Text<9>,
    /// 0.0000 to 0.2000.
    w_tax: TenThousandths,
    /// The sum of its districts: 300,000.00 at full scale.
    w_ytd: Hundredths,
}

row! {
    /// A row of district.
    District, District;
    /// 1 to 10.
    d_id: i32,
    /// Its warehouse.
    d_w_id: i32,
    /// A-string of 6 to 10.
    d_name: Text<10>,
    /// A-string of 10 to 20.
    d_street_1: Text<20>,
    /// A-string of 10 to 20.
    d_street_2: Text<20>,
    /// A-string of 10 to 20.
    d_city: Text<20>,
    /// 2 letters.
    d_state: Text<2>,
    /// 4 digits and 11111.
    d_zip: Text<9>,
    /// 0.0000 to 0.2000.
    d_tax: TenThousandths,
    /// The sum of its history rows: 30,000.00 at full scale.
    d_ytd: Hundredths,
    /// The next order's number: 3,001 at full scale.
    d_next_o_id: i32,
}

row! {
    /// A row of customer.
    Customer, Customer;
    /// 1 to 3,000 at full scale.
    c_id: i32,
    /// Its district.
    c_d_id: i32,
    /// Its warehouse.
    c_w_id: i32,
    /// A-string of 8 to 16.
    c_first: Text<16>,
    /// OE.
    c_middle: Text<2>,
    /// Three syllables, see [`last_name`](crate::tprocc::last_name).
    c_last: Text<16>,
    /// A-string of 10 to 20.
    c_street_1: Text<20>,
    /// A-string of 10 to 20.
    c_street_2: Text<20>,
    /// A-string of 10 to 20.
    c_city: Text<20>,
    /// 2 letters.
    c_state: Text<2>,
    /// 4 digits and 11111.
    c_zip: Text<9>,
    /// 16 digits.
    c_phone: Text<16>,
    /// The load time.
    c_since: Timestamp,
    /// BC for one customer in ten, else GC.
    c_credit: Text<2>,
    /// 50,000.00.
    c_credit_lim: Hundredths,
    /// 0.0000 to 0.5000.
    c_discount: TenThousandths,
    /// −10.00.
    c_balance: Hundredths,
    /// 10.00.
    c_ytd_payment: Hundredths,
    /// 1.
    c_payment_cnt: i32,
    /// 0.
    c_delivery_cnt: i32,
    /// A-string of 300 to 500.
    c_data: Text<500>,
}

row! {
    /// A row of history.
    History, History;
    /// The customer.
    h_c_id: i32,
    /// The customer's district.
    h_c_d_id: i32,
    /// The customer's warehouse.
    h_c_w_id: i32,
    /// The district paid.
    h_d_id: i32,
    /// The warehouse paid.
    h_w_id: i32,
    /// The load time.
    h_date: Timestamp,
    /// 10.00.
    h_amount: Hundredths,
    /// A-string of 12 to 24.
    h_data: Text<24>,
}

row! {
    /// A row of new_order.
    NewOrder, NewOrder;
    /// An undelivered order: 2,101 to 3,000 at full scale.
    no_o_id: i32,
    /// Its district.
    no_d_id: i32,
    /// Its warehouse.
    no_w_id: i32,
}

row! {
    /// A row of orders.
    Order, Orders;
    /// 1 to 3,000 at full scale.
    o_id: i32,
    /// Its district.
    o_d_id: i32,
    /// Its warehouse.
    o_w_id: i32,
    /// Its customer: a random permutation of the district's customers.
    o_c_id: i32,
    /// The load time.
    o_entry_d: Timestamp,
    /// 1 to 10, null if undelivered.
    o_carrier_id: Option<i32>,
    /// 5 to 15.
    o_ol_cnt: i32,
    /// 1.
    o_all_local: i32,
}

row! {
    /// A row of order_line.
    OrderLine, OrderLine;
    /// Its order.
    ol_o_id: i32,
    /// Its district.
    ol_d_id: i32,
    /// Its warehouse.
    ol_w_id: i32,
    /// 1 to o_ol_cnt.
    ol_number: i32,
    /// 1 to 100,000 at full scale, uniform.
    ol_i_id: i32,
    /// Its warehouse.
    ol_supply_w_id: i32,
    /// The load time, null if undelivered.
    ol_delivery_d: Option<Timestamp>,
    /// 5.
    ol_quantity: i32,
    /// 0.00 if delivered, else 0.01 to 9,999.99.
    ol_amount: Hundredths,
    /// 24 letters.
    ol_dist_info: Text<24>,
}

row! {
    /// A row of item.
    Item, Item;
    /// 1 to 100,000 at full scale.
    i_id: i32,
    /// 1 to 10,000.
    i_im_id: i32,
    /// A-string of 14 to 24.
    i_name: Text<24>,
    /// 1.00 to 100.00.
    i_price: Hundredths,
    /// A-string of 26 to 50; one in ten holds ORIGINAL.
    i_data: Text<50>,
}

row! {
    /// A row of stock.
    Stock, Stock;
    /// Its item.
    s_i_id: i32,
    /// Its warehouse.
    s_w_id: i32,
    /// 10 to 100.
    s_quantity: i32,
    /// 24 letters, for orders of district 1.
    s_dist_01: Text<24>,
    /// 24 letters, for orders of district 2.
    s_dist_02: Text<24>,
    /// 24 letters, for orders of district 3.
    s_dist_03: Text<24>,
    /// 24 letters, for orders of district 4.
    s_dist_04: Text<24>,
    /// 24 letters, for orders of district 5.
    s_dist_05: Text<24>,
    /// 24 letters, for orders of district 6.
    s_dist_06: Text<24>,
    /// 24 letters, for orders of district 7.
    s_dist_07: Text<24>,
    /// 24 letters, for orders of district 8.
    s_dist_08: Text<24>,
    /// 24 letters, for orders of district 9.
    s_dist_09: Text<24>,
    /// 24 letters, for orders of district 10.
    s_dist_10: Text<24>,
    /// 0.
    s_ytd: i32,
    /// 0.
    s_order_cnt: i32,
    /// 0.
    s_remote_cnt: i32,
    /// A-string of 26 to 50; one in ten holds ORIGINAL.
    s_data: Text<50>,
}
