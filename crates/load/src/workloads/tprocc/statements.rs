//! The statements that a virtual user prepares, by number: those of its form.

use super::dialect::{CALL_NEW_ORDER_BY_TABLE, Dialect};
use super::settings::{Form, LinesForm};
use proofload_engine::{Statement, StatementId};
use proofload_model::error::Error;

/// Makes one constant per statement and the list of their names, in one order.
macro_rules! statements {
    ($names:ident: $($constant:ident = $number:literal: $name:literal),+ $(,)?) => {
        $(
            #[doc = concat!("`", $name, "`.")]
            pub(super) const $constant: StatementId = StatementId($number);
        )+
        /// Names in the order of the constants.
        const $names: &[&str] = &[$($name),+];
    };
}

statements! {
    SHARED:
    PAYMENT_WAREHOUSE = 0: "payment_warehouse",
    PAYMENT_DISTRICT = 1: "payment_district",
    ORDER_STATUS_CUSTOMER_BY_ID = 2: "order_status_customer_by_id",
    ORDER_STATUS_CUSTOMER_BY_NAME = 3: "order_status_customer_by_name",
    ORDER_STATUS_ORDER = 4: "order_status_order",
    DELIVERY_TAKE = 5: "delivery_take",
    DELIVERY_ORDER = 6: "delivery_order",
    DELIVERY_LINES = 7: "delivery_lines",
    DELIVERY_CUSTOMER = 8: "delivery_customer",
    STOCK_LEVEL = 9: "stock_level",
}

// New-Order and Payment in two flights, or in one: the numbers of both go on from those of the others.
statements! {
    TWO_FLIGHTS:
    NEW_ORDER_WAREHOUSE = 10: "new_order_warehouse",
    NEW_ORDER_DISTRICT = 11: "new_order_district",
    NEW_ORDER_CUSTOMER = 12: "new_order_customer",
    NEW_ORDER_ITEM = 13: "new_order_item",
    NEW_ORDER_STOCK = 14: "new_order_stock",
    NEW_ORDER_ORDER = 15: "new_order_order",
    NEW_ORDER_QUEUE = 16: "new_order_queue",
    NEW_ORDER_LINE = 17: "new_order_line",
    PAYMENT_CUSTOMER_BY_ID = 18: "payment_customer_by_id",
    PAYMENT_CUSTOMER_BY_NAME = 19: "payment_customer_by_name",
    PAYMENT_CUSTOMER_DATA = 20: "payment_customer_data",
    PAYMENT_HISTORY = 21: "payment_history",
}

statements! {
    ONE_FLIGHT:
    NEW_ORDER_ENTRY = 10: "new_order_entry",
    NEW_ORDER_SUPPLY = 11: "new_order_supply",
    NEW_ORDER_LINES = 12: "new_order_lines",
    PAYMENT_BOOKING_BY_ID = 13: "payment_booking_by_id",
    PAYMENT_BOOKING_BY_NAME = 14: "payment_booking_by_name",
}

statements! {
    CALLS:
    CALL_NEW_ORDER = 0: "call_new_order",
    CALL_PAYMENT = 1: "call_payment",
    CALL_ORDER_STATUS = 2: "call_order_status",
    CALL_DELIVERY = 3: "call_delivery",
    CALL_STOCK_LEVEL = 4: "call_stock_level",
}

/// The same with the lines of a New-Order as a table.
const CALLS_BY_TABLE: &[&str] =
    &[CALL_NEW_ORDER_BY_TABLE, "call_payment", "call_order_status", "call_delivery", "call_stock_level"];

/// The statements of a form in a dialect, in the order of the constants.
pub(super) fn of(dialect: &Dialect, form: Form, lines: LinesForm) -> Result<Vec<Statement>, Error> {
    let lists: &[&[&str]] = match form {
        Form::Statements if dialect.has_one_flight() => &[SHARED, ONE_FLIGHT],
        Form::Statements => &[SHARED, TWO_FLIGHTS],
        Form::Procedures if lines == LinesForm::Table => &[CALLS_BY_TABLE],
        Form::Procedures => &[CALLS],
    };
    lists.iter().copied().flatten().map(|name| dialect.suite.statement(name).cloned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofload_gen::tprocc::Departures;

    #[test]
    fn a_table_of_lines_is_another_call_of_one_transaction() {
        let dialect = Dialect::of(proofload_engine::engine("sqlserver").unwrap(), Departures::NONE).unwrap();
        let names = |lines| {
            let statements = of(&dialect, Form::Procedures, lines).unwrap();
            statements.into_iter().map(|statement| statement.name).collect::<Vec<_>>()
        };
        assert_eq!(names(LinesForm::Lists), CALLS);
        assert_eq!(names(LinesForm::Table), CALLS_BY_TABLE);
    }

    #[test]
    fn numbers_are_places_in_the_list() {
        let two = [SHARED, TWO_FLIGHTS].concat();
        let one = [SHARED, ONE_FLIGHT].concat();
        let at = |list: &[&'static str], id: StatementId| list[usize::from(id.0)];
        assert_eq!((two.len(), one.len(), CALLS.len()), (22, 15, 5));
        for list in [&two, &one] {
            assert_eq!(at(list, PAYMENT_WAREHOUSE), "payment_warehouse");
            assert_eq!(at(list, DELIVERY_TAKE), "delivery_take");
            assert_eq!(at(list, STOCK_LEVEL), "stock_level");
        }
        assert_eq!(at(&two, NEW_ORDER_WAREHOUSE), "new_order_warehouse");
        assert_eq!(at(&two, NEW_ORDER_LINE), "new_order_line");
        assert_eq!(at(&two, PAYMENT_HISTORY), "payment_history");
        assert_eq!(at(&one, NEW_ORDER_ENTRY), "new_order_entry");
        assert_eq!(at(&one, NEW_ORDER_LINES), "new_order_lines");
        assert_eq!(at(&one, PAYMENT_BOOKING_BY_NAME), "payment_booking_by_name");
        assert_eq!(at(CALLS, CALL_DELIVERY), "call_delivery");
        assert_eq!(at(CALLS_BY_TABLE, CALL_NEW_ORDER), "call_new_order_by_table");
        assert_eq!(CALLS_BY_TABLE[1..], CALLS[1..]);
    }
}
