//! The statements that a virtual user prepares, by number: those of its form.

use super::dialect::Dialect;
use super::settings::Form;
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
    STATEMENTS:
    NEW_ORDER_WAREHOUSE = 0: "new_order_warehouse",
    NEW_ORDER_DISTRICT = 1: "new_order_district",
    NEW_ORDER_CUSTOMER = 2: "new_order_customer",
    NEW_ORDER_ITEM = 3: "new_order_item",
    NEW_ORDER_STOCK = 4: "new_order_stock",
    NEW_ORDER_ORDER = 5: "new_order_order",
    NEW_ORDER_QUEUE = 6: "new_order_queue",
    NEW_ORDER_LINE = 7: "new_order_line",
    PAYMENT_WAREHOUSE = 8: "payment_warehouse",
    PAYMENT_DISTRICT = 9: "payment_district",
    PAYMENT_CUSTOMER_BY_ID = 10: "payment_customer_by_id",
    PAYMENT_CUSTOMER_BY_NAME = 11: "payment_customer_by_name",
    PAYMENT_CUSTOMER_DATA = 12: "payment_customer_data",
    PAYMENT_HISTORY = 13: "payment_history",
    ORDER_STATUS_CUSTOMER_BY_ID = 14: "order_status_customer_by_id",
    ORDER_STATUS_CUSTOMER_BY_NAME = 15: "order_status_customer_by_name",
    ORDER_STATUS_ORDER = 16: "order_status_order",
    DELIVERY_TAKE = 17: "delivery_take",
    DELIVERY_ORDER = 18: "delivery_order",
    DELIVERY_LINES = 19: "delivery_lines",
    DELIVERY_CUSTOMER = 20: "delivery_customer",
    STOCK_LEVEL = 21: "stock_level",
}

statements! {
    CALLS:
    CALL_NEW_ORDER = 0: "call_new_order",
    CALL_PAYMENT = 1: "call_payment",
    CALL_ORDER_STATUS = 2: "call_order_status",
    CALL_DELIVERY = 3: "call_delivery",
    CALL_STOCK_LEVEL = 4: "call_stock_level",
}

/// The statements of a form in a dialect, in the order of the constants.
pub(super) fn of(dialect: &Dialect, form: Form) -> Result<Vec<Statement>, Error> {
    let names = match form {
        Form::Statements => STATEMENTS,
        Form::Procedures => CALLS,
    };
    names.iter().map(|name| dialect.suite.statement(name).cloned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_places_in_the_list() {
        let at = |id: StatementId| STATEMENTS[usize::from(id.0)];
        assert_eq!((STATEMENTS.len(), CALLS.len()), (22, 5));
        assert_eq!(at(NEW_ORDER_WAREHOUSE), "new_order_warehouse");
        assert_eq!(at(PAYMENT_CUSTOMER_DATA), "payment_customer_data");
        assert_eq!(at(DELIVERY_TAKE), "delivery_take");
        assert_eq!(at(STOCK_LEVEL), "stock_level");
        assert_eq!(CALLS[usize::from(CALL_DELIVERY.0)], "call_delivery");
    }
}
