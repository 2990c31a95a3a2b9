//! Every formula of the warehouse figures as data: what it is, where it comes from, how sure that is. Reports print it beside
//! the figure. May not compute.

/// How sure a formula is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// The published figures follow from it exactly, or it is a definition.
    Certain,
    /// It fits the published figures; the publication does not state it.
    Reconstructed,
    /// The published figures do not determine it.
    NotIdentifiable,
    /// Proofload's own; no publication uses it.
    Own,
}

impl Status {
    /// Its word.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Certain => "certain",
            Self::Reconstructed => "reconstructed",
            Self::NotIdentifiable => "not identifiable",
            Self::Own => "Proofload's own",
        }
    }
}

/// A formula.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Formula {
    /// The figure, as in tables.
    pub name: &'static str,
    /// Formula in words and symbols.
    pub text: &'static str,
    /// How sure it is.
    pub status: Status,
    /// Where it comes from, or what speaks for it.
    pub source: &'static str,
}

/// All of them, in the order of the certificate.
pub const FORMULAS: &[Formula] = &[
    Formula {
        name: "Queries per hour per TB",
        text: "valid queries × 3,600 ÷ elapsed seconds × raw TB",
        status: Status::Certain,
        source: "a definition; like TPC-H's throughput it multiplies by the size; at 1 TB, where P5 measured, dividing gives the same",
    },
    Formula {
        name: "Scan rate",
        text: "MB moved ÷ elapsed seconds: physical by the device, logical by the pages that queries requested",
        status: Status::Certain,
        source: "a definition",
    },
    Formula {
        name: "I/O throughput",
        text: "(physical + logical scan rate) ÷ 2",
        status: Status::Certain,
        source: "P5: (4,849 + 6,246) ÷ 2 = 5,547.5, printed as 5,547; only for comparison with such papers",
    },
    Formula {
        name: "MB per CPU second",
        text: "MB ÷ CPU seconds",
        status: Status::Certain,
        source: "the consumption rates of P5's procedure divide logical reads by CPU time",
    },
    Formula {
        name: "Hit share",
        text: "1 − physical ÷ logical",
        status: Status::Certain,
        source: "a definition; 22.4 % from P5's row store",
    },
    Formula {
        name: "Compression",
        text: "raw bytes ÷ bytes of tables, without and with indexes",
        status: Status::Certain,
        source: "a definition",
    },
    Formula {
        name: "Relative throughput",
        text: "100 × queries per hour per TB ÷ that of the named reference with the same layout",
        status: Status::Reconstructed,
        source: "P5's 188 and 364 fit references of 130 and 650, which it does not print",
    },
    Formula {
        name: "Maximum user data",
        text: "storage × (1 − free) × (1 − reserve for temporary files) × compression",
        status: Status::Reconstructed,
        source: "P5: 12 TB × 0.90 × 0.75 × 5 = 40.5, printed as 41; subtracting both shares from 1 gives 39",
    },
    Formula {
        name: "Rated user data",
        text: "unknown",
        status: Status::NotIdentifiable,
        source: "one published point (36 TB) is not enough to determine it",
    },
    Formula {
        name: "Largest size for a target",
        text: "the raw size at which device or cores are fully used by the target's queries, at most the maximum user data",
        status: Status::Own,
        source: "operational bounds; assumes that a query's I/O and CPU time grow with the raw size",
    },
];

/// A formula by the name of its figure.
pub fn formula(name: &str) -> Option<&'static Formula> {
    FORMULAS.iter().find(|formula| formula.name == name)
}
