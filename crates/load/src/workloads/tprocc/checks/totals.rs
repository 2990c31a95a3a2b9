//! Sums over the whole database, which conservation compares with what the clients counted.

use crate::workloads::blocking_session::{BlockingSession, hundredths, integer};
use crate::workloads::tprocc::build::Manifest;
use crate::workloads::tprocc::dialect::Dialect;
use proofload_model::error::Error;

/// Makes the struct of sums, its names, and the query and column that each comes from.
macro_rules! totals {
    ($($(#[$doc:meta])* $field:ident: $statement:literal, $column:literal, $read:ident;)+) => {
        /// Sums over the whole database; money in hundredths.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
        pub(crate) struct Totals {
            $($(#[$doc])* pub(crate) $field: i64,)+
        }

        impl Totals {
            /// Reads them: scans the large tables.
            pub(crate) fn read(session: &mut BlockingSession, dialect: &Dialect) -> Result<Self, Error> {
                let mut rows = std::collections::BTreeMap::new();
                for statement in [$($statement),+] {
                    if !rows.contains_key(statement) {
                        rows.insert(statement, session.one_row(&dialect.suite.statement(statement)?.sql)?);
                    }
                }
                Ok(Self { $($field: $read(&rows[$statement], $column)?,)+ })
            }

            /// Name and value of each.
            pub(crate) fn named(&self) -> Vec<(&'static str, i64)> {
                vec![$((stringify!($field), self.$field)),+]
            }

            /// The totals that the build has noted; `None` where one is missing.
            pub(crate) fn noted(manifest: &Manifest) -> Option<Self> {
                let value = |name: &str| manifest.content(&format!("total {name}"))?.parse().ok();
                Some(Self { $($field: value(stringify!($field))?,)+ })
            }
        }
    };
}

totals! {
    /// Σ w_ytd.
    w_ytd: "totals_warehouse", 0, hundredths;
    /// Σ d_next_o_id.
    d_next_o_id: "totals_district", 0, integer;
    /// Σ d_ytd.
    d_ytd: "totals_district", 1, hundredths;
    /// Σ c_payment_cnt.
    c_payment_cnt: "totals_customer", 0, integer;
    /// Σ c_ytd_payment.
    c_ytd_payment: "totals_customer", 1, hundredths;
    /// Σ c_delivery_cnt.
    c_delivery_cnt: "totals_customer", 2, integer;
    /// Rows of history.
    history: "totals_history", 0, integer;
    /// Σ h_amount.
    h_amount: "totals_history", 1, hundredths;
    /// Rows of new_order.
    new_order: "totals_new_order", 0, integer;
    /// Rows of orders.
    orders: "totals_orders", 0, integer;
    /// Orders with o_all_local = 0.
    orders_not_local: "totals_orders", 1, integer;
    /// Rows of order_line.
    order_line: "totals_order_line", 0, integer;
    /// Σ ol_quantity.
    ol_quantity: "totals_order_line", 1, integer;
    /// Σ s_ytd.
    s_ytd: "totals_stock", 0, integer;
    /// Σ s_order_cnt.
    s_order_cnt: "totals_stock", 1, integer;
    /// Σ s_remote_cnt.
    s_remote_cnt: "totals_stock", 2, integer;
}

impl Totals {
    /// The totals now. Data that are as the build left them, by a few cheap sums that every writing transaction moves,
    /// are not scanned: that would warm their caches before the run.
    pub(crate) fn before_run(
        session: &mut BlockingSession,
        dialect: &Dialect,
        manifest: &Manifest,
    ) -> Result<Self, Error> {
        if let Some(noted) = Self::noted(manifest) {
            let row = session.one_row(&dialect.suite.statement("fingerprint")?.sql)?;
            let now = (integer(&row, 0)?, hundredths(&row, 1)?, hundredths(&row, 2)?, integer(&row, 3)?);
            if now == (noted.d_next_o_id, noted.w_ytd, noted.d_ytd, noted.new_order) {
                return Ok(noted);
            }
        }
        Self::read(session, dialect)
    }
}
