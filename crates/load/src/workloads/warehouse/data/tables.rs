//! The eight tables: columns, kinds, keys, sizes. Source: TPC-H specification, clauses 1.4 and 4.2.5.

/// Kind of a column's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A whole number of 32 bits.
    Integer,
    /// A whole number of 64 bits.
    Long,
    /// Hundredths; the official text form writes two digits after the point.
    Decimal,
    /// Hundredths that are whole; the official text form writes no point.
    Quantity,
    /// Text.
    Text,
    /// A date.
    Date,
}

/// A table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Table {
    Region,
    Nation,
    Part,
    Supplier,
    PartSupp,
    Customer,
    Orders,
    LineItem,
}

/// Fixed properties of a table.
struct Facts {
    name: &'static str,
    /// Rows at scale factor 1; those of line items are an average.
    rows: u64,
    /// Whether the rows grow with the scale factor.
    grows: bool,
    /// Bytes of a row's text form, about; for estimates only.
    row_bytes: u64,
    /// Places of the key's columns.
    key: &'static [usize],
    columns: &'static [(&'static str, Kind)],
}

impl Table {
    /// All tables, in the order of loading.
    pub(crate) const ALL: [Self; 8] = [
        Self::Region,
        Self::Nation,
        Self::Supplier,
        Self::Part,
        Self::Customer,
        Self::PartSupp,
        Self::Orders,
        Self::LineItem,
    ];

    /// Name in SQL.
    pub(crate) fn name(self) -> &'static str {
        self.facts().name
    }

    /// Names and kinds of the columns.
    pub(crate) fn columns(self) -> &'static [(&'static str, Kind)] {
        self.facts().columns
    }

    /// Places of the key's columns; the first one orders the data.
    pub(crate) fn key(self) -> &'static [usize] {
        self.facts().key
    }

    /// Rows at a scale factor, as the generator counts them: cut off, not rounded. Exact but for line items.
    pub(crate) fn rows(self, scale: f64) -> u64 {
        let Facts { rows, grows, .. } = *self.facts();
        if grows { (rows as f64 * scale) as u64 } else { rows }
    }

    /// Bytes of the text form at a scale factor, about.
    pub(crate) fn bytes(self, scale: f64) -> u64 {
        self.rows(scale) * self.facts().row_bytes
    }

    fn facts(self) -> &'static Facts {
        &FACTS[self as usize]
    }
}

/// Properties of each table, in the order of [`Table`].
const FACTS: &[Facts] = &[
    Facts {
        name: "region",
        rows: 5,
        grows: false,
        row_bytes: 78,
        key: &[0],
        columns: &[("r_regionkey", Kind::Integer), ("r_name", Kind::Text), ("r_comment", Kind::Text)],
    },
    Facts {
        name: "nation",
        rows: 25,
        grows: false,
        row_bytes: 89,
        key: &[0],
        columns: &[
            ("n_nationkey", Kind::Integer),
            ("n_name", Kind::Text),
            ("n_regionkey", Kind::Integer),
            ("n_comment", Kind::Text),
        ],
    },
    Facts {
        name: "part",
        rows: 200_000,
        grows: true,
        row_bytes: 121,
        key: &[0],
        columns: &[
            ("p_partkey", Kind::Integer),
            ("p_name", Kind::Text),
            ("p_mfgr", Kind::Text),
            ("p_brand", Kind::Text),
            ("p_type", Kind::Text),
            ("p_size", Kind::Integer),
            ("p_container", Kind::Text),
            ("p_retailprice", Kind::Decimal),
            ("p_comment", Kind::Text),
        ],
    },
    Facts {
        name: "supplier",
        rows: 10_000,
        grows: true,
        row_bytes: 141,
        key: &[0],
        columns: &[
            ("s_suppkey", Kind::Integer),
            ("s_name", Kind::Text),
            ("s_address", Kind::Text),
            ("s_nationkey", Kind::Integer),
            ("s_phone", Kind::Text),
            ("s_acctbal", Kind::Decimal),
            ("s_comment", Kind::Text),
        ],
    },
    Facts {
        name: "partsupp",
        rows: 800_000,
        grows: true,
        row_bytes: 149,
        key: &[0, 1],
        columns: &[
            ("ps_partkey", Kind::Integer),
            ("ps_suppkey", Kind::Integer),
            ("ps_availqty", Kind::Integer),
            ("ps_supplycost", Kind::Decimal),
            ("ps_comment", Kind::Text),
        ],
    },
    Facts {
        name: "customer",
        rows: 150_000,
        grows: true,
        row_bytes: 162,
        key: &[0],
        columns: &[
            ("c_custkey", Kind::Integer),
            ("c_name", Kind::Text),
            ("c_address", Kind::Text),
            ("c_nationkey", Kind::Integer),
            ("c_phone", Kind::Text),
            ("c_acctbal", Kind::Decimal),
            ("c_mktsegment", Kind::Text),
            ("c_comment", Kind::Text),
        ],
    },
    Facts {
        name: "orders",
        rows: 1_500_000,
        grows: true,
        row_bytes: 115,
        key: &[0],
        columns: &[
            ("o_orderkey", Kind::Long),
            ("o_custkey", Kind::Integer),
            ("o_orderstatus", Kind::Text),
            ("o_totalprice", Kind::Decimal),
            ("o_orderdate", Kind::Date),
            ("o_orderpriority", Kind::Text),
            ("o_clerk", Kind::Text),
            ("o_shippriority", Kind::Integer),
            ("o_comment", Kind::Text),
        ],
    },
    Facts {
        name: "lineitem",
        rows: 6_001_215,
        grows: true,
        row_bytes: 127,
        key: &[0, 3],
        columns: &[
            ("l_orderkey", Kind::Long),
            ("l_partkey", Kind::Integer),
            ("l_suppkey", Kind::Integer),
            ("l_linenumber", Kind::Integer),
            ("l_quantity", Kind::Quantity),
            ("l_extendedprice", Kind::Decimal),
            ("l_discount", Kind::Decimal),
            ("l_tax", Kind::Decimal),
            ("l_returnflag", Kind::Text),
            ("l_linestatus", Kind::Text),
            ("l_shipdate", Kind::Date),
            ("l_commitdate", Kind::Date),
            ("l_receiptdate", Kind::Date),
            ("l_shipinstruct", Kind::Text),
            ("l_shipmode", Kind::Text),
            ("l_comment", Kind::Text),
        ],
    },
];
